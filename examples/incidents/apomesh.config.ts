import { createRequire } from 'node:module';
import { createOpenAI } from '@ai-sdk/openai';
import { defineAgent, defineConfig } from 'apomesh';
import { z } from 'zod';
import { appendLedger } from './ledger.ts';
import { rehearsal } from './rehearsal.ts';
import { prepareWorkdir } from './workdir.ts';

const dir = prepareWorkdir();

/** OpenAI, or with OPENAI_BASE_URL any server that speaks its older, common API. */
const baseURL = process.env['OPENAI_BASE_URL'];
const openai = createOpenAI(baseURL ? { baseURL, apiKey: process.env['OPENAI_API_KEY'] ?? 'none' } : {});
const provider = { languageModel: (id: string) => (baseURL ? openai.chat(id) : openai.languageModel(id)) };

const incidents = defineAgent({
  name: 'incidents',
  version: '1.0.0',
  model: process.env['APOMESH_MODEL'] ?? 'rehearsal',
  tools: ['files/*', 'append_ledger'],
  budget: { maxSteps: 80, deadline: '1 hour' },
  instructions: `You triage incident reports.

The folder reports/ holds reports in Markdown, written by different teams in different styles. Work through these steps:

1. List reports/ and read every file in it. Ask for several files at once.
2. Decide which reports are about the same incident. They are when they state the same incident reference as their own,
   or when they are about the same service and their times overlap. A report that only mentions another incident (as a
   follow-up, say) is not about that one. Mind time zones: everything you write is in UTC.
3. A report from which the affected service or the time of the start cannot be told is malformed. It gets no ticket.
4. Create the folder tickets/. For each distinct incident, in the order of their starts, write one file
   tickets/<id>.md. The id is the incident reference (INC-2026-0311); without one it is INC-<day of the start>-<service>
   (INC-20260324-search-indexer). A ticket gives service, severity (SEV1 to SEV4, the most severe that any of its reports
   claims), start and end, what happened, the reports it rests on, and the follow-ups of all of them.
5. Once a ticket is written, enter its incident with append_ledger, exactly once. Never enter an incident again because
   a call failed: say so in the summary instead.
6. Write summary.md: a table of the incidents with their tickets, which reports were duplicates, and which were malformed
   and why.
7. Answer with the counts.`,
  output: z.object({
    reports: z.int().describe('Reports in the folder.'),
    incidents: z.int().describe('Distinct incidents.'),
    duplicates: z.int().describe('Reports of an incident that another report is about too, the first of each apart.'),
    malformed: z.array(z.string()).describe('Names of malformed reports.'),
    tickets: z.array(z.string()).describe('Paths of the tickets written.'),
  }),
});

export default defineConfig({
  models: { rehearsal, 'openai/*': provider },
  tools: [appendLedger],
  mcp: {
    files: {
      command: process.execPath,
      args: [createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js'), dir],
      cwd: dir,
      effects: {
        read_file: 'read',
        read_text_file: 'read',
        read_media_file: 'read',
        read_multiple_files: 'read',
        list_directory: 'read',
        list_directory_with_sizes: 'read',
        directory_tree: 'read',
        search_files: 'read',
        get_file_info: 'read',
        list_allowed_directories: 'read',
        write_file: 'effect',
        edit_file: 'effect',
        create_directory: 'effect',
        move_file: 'effect',
      },
      // Writing the same content again, or making a folder that is there, changes nothing.
      tools: { write_file: { idempotent: true }, create_directory: { idempotent: true } },
    },
  },
  agents: [incidents],
  limits: { heartbeatTimeout: '3 seconds', doubtGrace: '1 second' },
});
