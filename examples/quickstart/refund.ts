import { appendFile, readFile } from 'node:fs/promises';
import { defineTool } from 'apomesh';
import { z } from 'zod';

/** Stands for a bank: a line for each refund, with the key of the call that made it. */
const ledger = process.env.REFUNDS_FILE ?? 'refunds.jsonl';

export const refund = defineTool({
  name: 'refund',
  description: 'Pays the price of an order back.',
  effect: 'effect',
  input: z.object({ order: z.string(), amount: z.number().positive() }),
  approval: ({ amount }) => amount > 100,
  timeout: '10 seconds',
  async run({ order, amount }, { key }) {
    await appendFile(ledger, `${JSON.stringify({ key, order, amount })}\n`);
    return { refunded: amount };
  },
  async reconcile({ amount }, { key }) {
    const lines = await readFile(ledger, 'utf8').catch(() => '');
    return lines.includes(key) ? { happened: true, result: { refunded: amount } } : { happened: false };
  },
});
