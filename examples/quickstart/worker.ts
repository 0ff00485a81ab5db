import { NativeConnection, Worker } from '@temporalio/worker';
import { ApomeshPlugin } from 'apomesh';
import config from './apomesh.config.ts';

const { TEMPORAL_ADDRESS: address = '127.0.0.1:7233', TEMPORAL_NAMESPACE: namespace = 'default' } = process.env;

// As `apomesh worker`, in a process of your own, beside workflows and activities of your own if you like.
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue: 'apomesh',
  plugins: [new ApomeshPlugin(config)],
});
await worker.run();
await connection.close();
