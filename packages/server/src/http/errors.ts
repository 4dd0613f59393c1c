/** One error class, one table of codes. What is not an ApiError is a generic 500 and a log line. */

import { retryHeaders } from './rate-limit.ts';

export const CODES = {
  invalid_request: 400,
  invalid_bundle: 400,
  idempotency_key_required: 400,
  invalid_cursor: 400,
  unauthorized: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  app_not_found: 404,
  project_not_found: 404,
  source_not_found: 404,
  file_not_found: 404,
  thread_not_found: 404,
  attachment_not_found: 404,
  run_not_found: 404,
  apply_not_found: 404,
  build_not_found: 404,
  checkpoint_not_found: 404,
  approval_not_found: 404,
  preview_not_found: 404,
  operation_not_found: 404,
  service_account_not_found: 404,
  credential_not_found: 404,
  member_not_found: 404,
  invitation_not_found: 404,
  session_not_found: 404,
  organization_not_found: 404,
  model_key_not_found: 404,
  mcp_server_not_found: 404,
  variable_not_found: 404,
  setup_not_found: 404,
  skill_not_found: 404,
  installation_not_found: 404,
  repository_not_found: 404,
  branch_not_found: 404,
  commit_not_found: 404,
  pull_request_not_found: 404,
  comment_not_found: 404,
  task_not_found: 404,
  webhook_not_found: 404,
  delivery_not_found: 404,
  automation_not_found: 404,
  execution_not_found: 404,
  host_not_found: 404,
  binding_not_found: 404,
  method_not_allowed: 405,
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
  build_busy: 409,
  repository_not_bound: 409,
  repository_bound: 409,
  repository_in_use: 409,
  repository_name_taken: 409,
  unsupported_by_provider: 409,
  managed_by_config: 409,
  scm_access_denied: 409,
  scm_repository_gone: 409,
  no_changes: 409,
  pull_request_exists: 409,
  pull_request_not_open: 409,
  execution_active: 409,
  head_moved: 409,
  merge_refused: 409,
  webhook_disabled: 409,
  host_offline: 409,
  unsupported_on_host: 409,
  cursor_expired: 410,
  cursor_scope_changed: 410,
  request_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  bad_gateway: 502,
  not_configured: 501,
  unavailable: 503,
  source_storage_unavailable: 503,
  source_workspace_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof CODES;
export interface Field {
  /** JSON pointer into the body, or `/query/…`, `/headers/…`, `/params/…`. */
  path: string;
  message: string;
}

export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly fields: Field[] | undefined;
  /** Further members of `error`, for the caller. */
  readonly details: Record<string, unknown>;
  readonly headers: Record<string, string>;

  /** `message` is for a person: it says what to do and never echoes an id. `cause` is for the log only. */
  constructor(
    code: ErrorCode,
    message: string,
    options: {
      fields?: Field[];
      details?: Record<string, unknown>;
      headers?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = CODES[code];
    this.fields = options.fields;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }

  body(requestId: string) {
    return {
      ok: false as const,
      error: {
        code: this.code,
        message: this.message,
        requestId,
        ...(this.fields ? { fields: this.fields } : {}),
        ...this.details,
      },
    };
  }
}

/** 404 with the resource's own code. */
export const notFound = (
  resource:
    | 'app'
    | 'project'
    | 'source'
    | 'file'
    | 'thread'
    | 'attachment'
    | 'run'
    | 'apply'
    | 'build'
    | 'checkpoint'
    | 'approval'
    | 'preview'
    | 'operation'
    | 'service_account'
    | 'credential'
    | 'member'
    | 'invitation'
    | 'session'
    | 'organization'
    | 'model_key'
    | 'mcp_server'
    | 'variable'
    | 'setup'
    | 'skill'
    | 'installation'
    | 'repository'
    | 'branch'
    | 'commit'
    | 'pull_request'
    | 'comment'
    | 'task'
    | 'webhook'
    | 'delivery'
    | 'automation'
    | 'execution'
    | 'host'
    | 'binding',
) =>
  new ApiError(
    `${resource}_not_found`,
    `There is no such ${resource.replaceAll('_', ' ')} here. Check the id and that your credential may see it.`,
  );

/** 400 with the places that are wrong. */
export const invalid = (...fields: Field[]) =>
  new ApiError(
    'invalid_request',
    `The request is invalid: ${fields[0]?.message ?? 'see its documentation'}`,
    { fields },
  );

/** 429: the organization has as many open as the operator lets it have. */
export const tooManyOpen = (bound: number, name: string) =>
  new ApiError(
    'rate_limited',
    `Your organization has ${bound} ${name} open, which is all that the operator lets it have. Retry when one has ended.`,
    { headers: retryHeaders(2) },
  );

export type BusyReason = 'run' | 'exec' | 'apply' | 'build' | 'pull_request';
const BUSY: Record<BusyReason, string> = {
  run: 'A run is queued or active in this thread. Wait for it to end, or stop it.',
  exec: 'A command runs in this thread. Wait for it to end.',
  apply: 'An apply of this thread is queued. Wait for it to end.',
  build: 'A build of this thread is queued or running. Wait for it to end, or cancel it.',
  pull_request: 'A change of a pull request of this thread is under way. Wait for it to end.',
};
export const threadBusy = (reason: BusyReason) =>
  new ApiError('thread_busy', BUSY[reason], { details: { reason } });

/** Codes under which a write reserves nothing, so that its key may be used again. */
const RELEASING = new Set<ErrorCode>([
  'thread_busy',
  'build_busy',
  'execution_active',
  'host_offline',
  'request_in_progress',
  'idempotency_conflict',
]);
export function settles(error: ApiError): boolean {
  return (
    ![400, 401, 402, 403, 413, 415, 429].includes(error.status) &&
    error.status < 500 &&
    !RELEASING.has(error.code)
  );
}

export const noSuchPath = (cause?: unknown) =>
  new ApiError('not_found', 'There is no such path. See /docs for all of them.', { cause });
