import { Connection } from '@temporalio/client';
import { addressOf, unique } from './pool.ts';
import { until } from './until.ts';

const DAY_S = 86_400;

/** Makes a namespace of its own, for what polls the default task queue, and gives its name. */
export async function newNamespace(prefix: string): Promise<string> {
  const namespace = unique(prefix);
  const connection = await Connection.connect({ address: addressOf() });
  const workflowExecutionRetentionPeriod = { seconds: DAY_S as never };
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  await until(`there is a namespace ${namespace}`, () =>
    connection.workflowService.describeNamespace({ namespace }).catch(() => null),
  );
  await connection.close();
  return namespace;
}
