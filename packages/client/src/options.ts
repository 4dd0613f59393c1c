/** What calls take, and what they return in addition to their result. */

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** For all attempts together; default two minutes, longer for slow operations. */
  timeoutMs?: number | undefined;
  /** For one attempt; default one minute, longer for slow operations. */
  attemptTimeoutMs?: number | undefined;
  headers?: Record<string, string> | undefined;
}
export interface WriteOptions extends CallOptions {
  /** Generated when omitted. A write has one effect per key, whichever process repeats it. */
  idempotencyKey?: string | undefined;
}
export interface PageOptions extends CallOptions {
  cursor?: string | undefined;
  /** 1-200, default 50. */
  limit?: number | undefined;
}
export interface DoneOptions {
  signal?: AbortSignal | undefined;
  /** Default 15 minutes; 20 for an apply, which an agent may repair. */
  timeoutMs?: number | undefined;
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
  hasMore: boolean;
}

/** What a response says in addition to its result. */
export interface ResponseInfo {
  status: number;
  requestId: string | null;
  /** The receipt of a write: `operations.get` reads it. */
  operationId: string | null;
  /** Whether this is the stored answer of an earlier write with the same key. */
  replayed: boolean;
  rateLimit: { limit: number; remaining: number; resetAt: Date } | null;
}
