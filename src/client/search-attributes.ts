import { isGrpcServiceError, ServiceError } from '@temporalio/client';

const INVALID_ARGUMENT = 3;

/** Whether Temporal refused a start because the namespace lacks a search attribute (no worker of ours was there yet). */
export function isMissingSearchAttribute(error: unknown): boolean {
  const grpc = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(grpc) && grpc.code === INVALID_ARGUMENT && /search ?attribute/i.test(grpc.details);
}
