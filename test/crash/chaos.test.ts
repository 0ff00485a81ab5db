import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const MAIN = fileURLToPath(new URL('./chaos/main.ts', import.meta.url));
const LONGEST_MS = 360_000;

it(
  'R1 to R7: fifty sessions are whole, or listed, while workers, the store and Temporal die and Temporal is lost',
  async () => {
    const args = ['--conditions=apomesh:source', '--disable-warning=ExperimentalWarning', MAIN, '--minutes', '2'];
    const env = { ...process.env, NODE_OPTIONS: undefined };
    const chaos = spawn(process.execPath, [...args, '--quiet'], { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    let summary = '';
    chaos.stdout?.setEncoding('utf8').on('data', (text: string) => {
      summary += text;
    });
    const [exit] = await once(chaos, 'close');
    process.stderr.write(summary);
    expect({ exit, summary }).toEqual({ exit: 0, summary: expect.stringMatching(/^broken +nothing$/mu) });
  },
  LONGEST_MS,
);
