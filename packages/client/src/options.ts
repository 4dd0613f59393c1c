/** What calls take, and what comes back beside their content. */

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** For all attempts together; default two minutes, more for what takes longer. */
  timeoutMs?: number | undefined;
  /** For one attempt; default one minute, more for what takes longer. */
  attemptTimeoutMs?: number | undefined;
  headers?: Record<string, string> | undefined;
}
export interface WriteOptions extends CallOptions {
  /** Made when left out. A write under the same key has one effect, whichever process repeats it. */
  idempotencyKey?: string | undefined;
}
export interface PageOptions extends CallOptions {
  cursor?: string | undefined;
  /** 1-200, default 50. */
  limit?: number | undefined;
}
export interface DoneOptions {
  signal?: AbortSignal | undefined;
  /** Default 15 minutes; of an apply, which an agent may repair, 20. */
  timeoutMs?: number | undefined;
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
  hasMore: boolean;
}

/** What an answer says beside its content. */
export interface ResponseInfo {
  status: number;
  requestId: string | null;
  /** The receipt of a write: `operations.get` reads it. */
  operationId: string | null;
  /** The answer of an earlier write under the same key. */
  replayed: boolean;
  rateLimit: { limit: number; remaining: number; resetAt: Date } | null;
}
