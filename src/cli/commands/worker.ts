import { configOf, interruptible, mongoOf, temporalOf } from '../connect.ts';
import type { Common } from '../options.ts';
import { jsonLine, line } from '../terminal.ts';
import { runWorker } from '../worker.ts';

export interface WorkerCommand extends Common {
  readonly taskQueue?: string;
}

export async function worker(options: WorkerCommand): Promise<number> {
  const config = await configOf(options);
  const { taskQueue } = options;
  await interruptible(async (signal) => {
    const onLeaving = () =>
      void line('lets its agents go, and waits for effects in progress; once more ends it at once');
    if (!options.json) signal.addEventListener('abort', onLeaving, { once: true });
    const onReady = async (ready: { taskQueue: string; identity: string }) => {
      if (options.json) await jsonLine(ready);
      else
        await line(
          `worker ${ready.identity} polls task queue ${ready.taskQueue}; Ctrl-C lets its agents go and ends it`,
        );
    };
    await runWorker({
      config,
      ...temporalOf(options),
      mongo: mongoOf(options),
      signal,
      onReady,
      ...(taskQueue !== undefined && { taskQueue }),
    });
    return 0;
  });
  return 0;
}
