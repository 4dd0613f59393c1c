import type { ErrorCode, Operation } from './generated/types.ts';

/** A field that the service refused. */
export interface Field {
  /** JSON pointer into the body, or `/query/…`, `/headers/…`, `/params/…`. */
  path: string;
  message: string;
}

/** Codes of the client itself: no answer arrived, or it did not come from Headrace. */
export type ClientErrorCode = 'network_error' | 'invalid_response';
/** Branch on these. A newer service may send codes that are not in this list. */
export type Code = ErrorCode | ClientErrorCode;

interface Counters {
  current: { version?: number; titleVersion?: number; archiveVersion?: number };
}
/** What some codes add to an error. */
interface DetailsByCode {
  version_conflict: Counters;
  thread_busy: { reason: 'run' | 'exec' | 'apply' | 'build' };
  merge_refused: { reason: 'conflicting' | 'draft' | 'checks' | 'review_required' | 'method' | 'protected' };
  request_in_progress: { operationId: string };
  pull_request_exists: { pullRequestId: string };
  head_moved: { headSha: string };
}
export type DetailsOf<C extends Code> = C extends keyof DetailsByCode
  ? Readonly<DetailsByCode[C]>
  : Readonly<Record<string, unknown>>;

interface ErrorParts {
  fields?: readonly Field[] | undefined;
  requestId?: string | null;
  details?: Record<string, unknown>;
  retryAfterMs?: number | null;
  cause?: unknown;
}

/** A failed call. Its `message` is for people, and says what to do. */
export class HeadraceError extends Error {
  override readonly name: string = 'HeadraceError';
  /** The HTTP status; 0 if no answer arrived. */
  readonly status: number;
  readonly code: Code;
  readonly fields: readonly Field[];
  readonly requestId: string | null;
  /** The receipt of the write, if the error names one. */
  readonly operationId: string | null;
  /** The further members of the answer's `error`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** From `Retry-After`. */
  readonly retryAfterMs: number | null;

  constructor(status: number, code: Code, message: string, parts: ErrorParts = {}) {
    super(message, { cause: parts.cause });
    const { fields = [], requestId = null, details = {}, retryAfterMs = null } = parts;
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.requestId = requestId;
    this.details = details;
    this.operationId = typeof details['operationId'] === 'string' ? details['operationId'] : null;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same call may succeed later, unchanged. */
  get retryable(): boolean {
    return RETRIED.has(this.status) || RETRIED_CODES.has(this.code);
  }
}

const RETRIED = new Set([429, 502, 503, 504]);
const RETRIED_CODES = new Set<Code>(['network_error', 'request_in_progress']);

/** Whether an error has that code; `error.details` then has its members. */
export const isCode = <C extends Code>(
  error: unknown,
  code: C,
): error is HeadraceError & { readonly code: C; readonly details: DetailsOf<C> } =>
  error instanceof HeadraceError && error.code === code;

/**
 * A write was sent, but no attempt was answered, so it is unknown whether it happened. Repeating the call with
 * the same `idempotencyKey` has at most one effect.
 */
export class UncertainError extends HeadraceError {
  override readonly name = 'UncertainError';
  readonly idempotencyKey: string;
  readonly #find: () => Promise<Operation | null>;

  constructor(last: HeadraceError, idempotencyKey: string, find: () => Promise<Operation | null>) {
    const { status, code, requestId, cause } = last;
    const message = `${last.message} The write may have happened: repeat it with its idempotencyKey, or ask recheck().`;
    super(status, code, message, { requestId, cause });
    this.idempotencyKey = idempotencyKey;
    this.#find = find;
  }

  /**
   * The write's receipt: its status and stored answer. Null if the service has none: the write has not happened,
   * unless it is still on its way.
   */
  recheck(): Promise<Operation | null> {
    return this.#find();
  }
}

/** The waiting time is over; the work itself continues. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';

  constructor(what: string, milliseconds: number) {
    super(
      `The ${what} did not end within ${Math.round(milliseconds / 1000)} s. It continues; read it again later.`,
    );
  }
}

const SHOWN_FIELDS = 5;
const SHOWN_CHARACTERS = 200;

/** The error in an answer's body, including a proxy's answer that is not JSON. */
export function errorOf(response: Response, text: string): HeadraceError {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id');
  const retryAfterMs = retryAfter(headers.get('retry-after'));
  const error = memberOf(text);
  if (!error) return invalidResponse(status, text, { requestId, retryAfterMs });
  const { code, message, requestId: id, fields: given, ...details } = error;
  const fields = Array.isArray(given) ? given : undefined;
  const shown = fields?.slice(0, SHOWN_FIELDS).map((field) => `${field.path}: ${field.message}`);
  return new HeadraceError(status, code, shown?.length ? `${message} (${shown.join('; ')})` : message, {
    fields,
    requestId: id ?? requestId,
    details,
    retryAfterMs,
  });
}

export const invalidResponse = (status: number, text: string, parts: ErrorParts = {}): HeadraceError =>
  new HeadraceError(
    status,
    'invalid_response',
    `The answer ${status} is not from Headrace: ${text.slice(0, SHOWN_CHARACTERS)}`,
    parts,
  );

type Sent = { code: Code; message: string; requestId?: string; fields?: Field[] } & Record<string, unknown>;

function memberOf(text: string): Sent | null {
  try {
    const { error } = JSON.parse(text) as { error?: Sent };
    return typeof error?.code === 'string' && typeof error.message === 'string' ? error : null;
  } catch {
    return null;
  }
}

/** Seconds, or a date. */
function retryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
