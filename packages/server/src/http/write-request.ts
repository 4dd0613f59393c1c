/** What an idempotent write asks, does and answers. */
import type { Principal } from './principal.ts';
import type { Context } from '../context.ts';
import type { EventScope, Tx } from '../db/transaction.ts';

export interface WriteRequest {
  principal: Principal;
  key: string;
  fingerprint: Buffer;
  method: string;
  path: string;
  projectId: string | null;
  /** The project and thread that the request names, whether they are there or not. */
  names: { projectId: string | null; threadId: string | null };
  permissions: string[];
  requestId: string;
  /** Direct API: `operation.updated` is published unless the write turns out to concern a Platform app. */
  direct: boolean;
}

export interface WriteResult {
  status: number;
  body: Record<string, unknown>;
  /** What a replay answers where it differs: secrets left out. */
  replay?: Record<string, unknown>;
  /**
   * What its receipt shows where a replay repeats a secret: the answer without it. The replay is stored
   * sealed then.
   */
  shown?: Record<string, unknown>;
  /** The project that the write concerned, where its path does not name it. */
  scope?: EventScope;
}

export interface Answer {
  status: number;
  text: string;
  operationId: string | null;
  replayed: boolean;
}

/** For a handler that has to publish its operation's event elsewhere than last. */
export interface Receipt {
  operationId: string;
  publish(tx: Tx, scope?: EventScope): void;
}

/** A committed claim on a key. */
export interface Claim {
  operationId: string;
  /** Aborted once the lease is lost or about to run out: what goes on outside of the database has to stop. */
  signal: AbortSignal;
  /**
   * Settles the receipt in the caller's last transaction. Throws when the claim is not this one's any more.
   */
  settle(tx: Tx, result: WriteResult): Promise<void>;
}

export interface ClaimOptions {
  mode: 'staged' | 'job' | 'outside';
  scope?: EventScope | undefined;
  /** `operation.updated` with `pending` at the claim. */
  publishesPending: boolean;
  /** Runs in the claim's transaction (for the job that will settle it); may refuse. */
  onClaim?: ((tx: Tx, operationId: string) => Promise<EventScope | undefined>) | undefined;
  /**
   * Mode `outside`: whose look settles it when this process dies, and what it looks for. Stored; no
   * secrets.
   */
  look?: { name: string; target: Record<string, unknown> } | undefined;
}

/** Makes writes idempotent. The room receipts implements it, and app.ts hands it over. */
export interface Receipts {
  writeOnce: (
    ctx: Context,
    request: WriteRequest,
    write: (tx: Tx, receipt: Receipt) => Promise<WriteResult>,
  ) => Promise<Answer>;
  writeClaimed: (
    ctx: Context,
    request: WriteRequest,
    options: ClaimOptions,
    work: (claim: Claim) => Promise<WriteResult>,
  ) => Promise<Answer>;
}
