import { defineAgent, defineConfig } from 'apomesh';
import { clerk } from './clerk.ts';
import { refund } from './refund.ts';

const refunds = defineAgent({
  name: 'refunds',
  version: '1.0.0',
  model: 'clerk',
  instructions: 'You refund orders. Refund what the goal asks for, once, and say what became of it.',
  tools: ['refund'],
  budget: { maxSteps: 10, deadline: '1 day' },
});

export default defineConfig({
  models: { clerk },
  tools: [refund],
  agents: [refunds],
});
