import { builtInTools } from '../agent/built-in.ts';
import type { Tool } from '../ports/tools.ts';
import { zodTool } from './zod.ts';

/** The tools of the platform's own as any other tool is offered. */
export const offeredBuiltIn = (): Tool[] =>
  [...builtInTools].map(([name, { class: toolClass, description, input }]) => {
    const run = () => Promise.reject(new TypeError(`${name} is not run by the worker's tools`));
    return { ...zodTool({ name, description, input, run }), class: toolClass };
  });
