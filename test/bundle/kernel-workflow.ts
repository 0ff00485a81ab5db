import { proxySinks, type Sinks } from '@temporalio/workflow';
import type { Json } from '../../src/session/json.ts';
import { kernelValues } from './kernel-values.ts';

export interface KernelSinks extends Sinks {
  kernel: { report(text: string): void };
}

const { kernel } = proxySinks<KernelSinks>();

export async function kernelProbe(log: string, values: readonly Json[]): Promise<void> {
  kernel.report(kernelValues(log, values));
}
