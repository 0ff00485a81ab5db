import { scriptedModel } from 'apomesh';

/** Stands in for a language model, so that this runs without a network: asks for the refund, then says what came of it. */
export const clerk = scriptedModel((prompt) => {
  const last = prompt.at(-1);
  const [part] = last?.role === 'tool' || last?.role === 'user' ? last.content : [];
  if (part?.type === 'tool-result') {
    const { output } = part;
    return { text: output.type === 'json' ? 'The refund is on its way.' : `No refund: ${JSON.stringify(output)}` };
  }
  const [, order = '', amount] = /order (\S+), (\S+) EUR/.exec(part?.type === 'text' ? part.text : '') ?? [];
  return { calls: [{ tool: 'refund', args: { order, amount: Number(amount ?? 0) } }] };
});
