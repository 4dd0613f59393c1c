/** The refusals of the test service, with the service's codes. */
export const STATUS = {
  invalid_request: 400,
  invalid_bundle: 400,
  idempotency_key_required: 400,
  invalid_cursor: 400,
  unauthorized: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  app_not_found: 404,
  source_not_found: 404,
  file_not_found: 404,
  thread_not_found: 404,
  run_not_found: 404,
  apply_not_found: 404,
  build_not_found: 404,
  checkpoint_not_found: 404,
  approval_not_found: 404,
  operation_not_found: 404,
  conflict: 409,
  version_conflict: 409,
  idempotency_conflict: 409,
  request_in_progress: 409,
  thread_busy: 409,
  thread_archived: 409,
  draft_sealed: 409,
  stale_source: 409,
  stale_head: 409,
  head_not_initialized: 409,
  head_already_initialized: 409,
  source_not_in_history: 409,
  external_id_taken: 409,
  run_not_active: 409,
  build_not_active: 409,
  build_not_ready: 409,
  approval_resolved: 409,
  cursor_expired: 410,
  cursor_scope_changed: 410,
  request_too_large: 413,
  rate_limited: 429,
  internal: 500,
  not_configured: 501,
  bad_gateway: 502,
  unavailable: 503,
  source_storage_unavailable: 503,
  source_workspace_unavailable: 503,
} as const;

export type FaultCode = keyof typeof STATUS;

export interface Field {
  path: string;
  message: string;
}

/** An answer `{"ok":false,"error":…}`. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly details: Record<string, unknown>;

  constructor(code: FaultCode, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export const invalid = (...fields: Field[]): Fault =>
  new Fault('invalid_request', `The request is invalid: ${fields[0]?.message ?? ''}`, { fields });

export const notFound = (
  what:
    | 'app'
    | 'source'
    | 'file'
    | 'thread'
    | 'checkpoint'
    | 'run'
    | 'apply'
    | 'build'
    | 'approval'
    | 'operation',
): Fault => new Fault(`${what}_not_found`, `There is no such ${what} here.`);

export const busy = (reason: 'run' | 'apply' | 'build'): Fault =>
  new Fault('thread_busy', `The thread has an open ${reason}. Wait for it to end.`, { reason });

const RELEASING = new Set<FaultCode>(['thread_busy', 'request_in_progress', 'idempotency_conflict']);

/** Whether a refusal is stored with its key and replayed. */
export const settles = ({ code }: Fault): boolean =>
  (STATUS[code] === 404 || STATUS[code] === 409) && !RELEASING.has(code);
