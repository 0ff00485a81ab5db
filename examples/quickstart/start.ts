import { Client, Connection } from '@temporalio/client';
import { ApomeshClient, ApomeshPlugin } from 'apomesh';
import config from './apomesh.config.ts';

const { TEMPORAL_ADDRESS: address = '127.0.0.1:7233', TEMPORAL_NAMESPACE: namespace = 'default' } = process.env;

const connection = await Connection.connect({ address });
const client = new Client({ connection, namespace, plugins: [new ApomeshPlugin(config)] });
const apomesh = new ApomeshClient({ client });

const session = await apomesh.sessions.start({ agent: 'refunds', goal: 'Refund order A-17, 240 EUR.' });
for await (const event of session.tail()) {
  console.log(event.seq, event.type);
  // Over 100 EUR the tool asks. A real program would show the pause to somebody, and answer hours later.
  if (event.type === 'PauseRaised') {
    await session.answer(event.data.pause, { decision: 'approve', by: 'start.ts' });
  }
}
console.log(await session.output());

await apomesh.close();
await connection.close();
