/**
 * What an endpoint is: one operation, defined in the file named after it and bound to its paths in its
 * domain's routes.ts. Four kinds: `read`, `write` (one transaction), `claimedWrite` (work outside of a
 * transaction) and `plain` (a POST without receipt).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import type { Capability } from './capabilities.ts';
import type { Principal } from './principal.ts';
import type { Context } from '../context.ts';
import type { EventScope, Tx } from '../db/transaction.ts';
import type { Claim, Receipt, WriteResult } from './write-request.ts';

/**
 * Who may call it. `permissions`: all of them, by key or session. `session`: a browser session of at least
 * that role in its organization (`user`: of anybody, in no matter which). `authenticated`: anybody known;
 * the operation decides. `unrestricted`: not for keys with `projectIds`. `operator`: of the first
 * organization, whose owners run the deployment.
 */
export type Access =
  | 'public'
  | 'authenticated'
  | { permissions: readonly string[]; unrestricted?: boolean }
  | { session: 'user' | 'member' | 'admin' | 'owner'; operator?: true };

/** The call of an operation, after authentication and validation. */
export interface Call<Q = unknown, B = unknown> {
  ctx: Context;
  principal: Principal;
  api: 'platform' | 'direct';
  /**
   * Path parameters; `projectId` is there as `appId` too. An id of wrong form is replaced by one that
   * nothing has.
   */
  params: Record<string, string>;
  query: Q;
  body: B;
  /** The body's bytes, for operations with `rawBody`. */
  bytes: Buffer;
  contentType: string;
  headers: IncomingMessage['headers'];
  requestId: string;
  /** The caller's network address. */
  address: string;
  /** Aborted when the caller has gone, or the service stops. */
  signal: AbortSignal;
  /**
   * Takes the answer over: a 200 with these headers, written by the operation to the end. For a claimed
   * write's first answer only.
   */
  hijack: (headers: Record<string, string>) => ServerResponse;
}

export type Reply =
  | { status: number; body: unknown; headers?: Record<string, string | string[]> }
  /** Bytes: a download. */
  | { status: number; stream: Readable | Buffer | string; headers: Record<string, string> }
  /** The operation writes to the socket by itself (event streams); the rate limit headers are given to it. */
  | { hijack: (response: ServerResponse, headers: Record<string, string>) => void };

export interface Documentation {
  /** `<domain>.<operation>`: the domain's folder and, in kebab-case, the file. */
  name: string;
  summary: string;
  description?: string;
  access: Access;
  /** What the operator may take from the organization, or switch off: then 402 or 501. */
  capability?: Capability;
  query?: TSchema;
  body?: TSchema;
  /** JSON pointers in the body that must equal the Idempotency-Key. */
  legacyKeys?: readonly string[];
  /** The handler parses the body itself, in a worker: the framework hands over bytes. */
  rawBody?: readonly string[];
  /** Bytes of a body. By default 16 KiB where the operation is public, else 64 MiB. */
  bodyLimit?: number;
  /** Successful answers: a JSON schema, or media types. */
  responses: Record<number, TSchema | { content: Record<string, unknown>; description?: string }>;
  /** Statuses in addition to those that every operation of its kind has. */
  errors?: readonly number[];
}

const PUBLIC_BODY_BYTES = 16 * 1024;
const BODY_BYTES = 64 * 1024 * 1024;

/** What anybody may send stays small: nothing says who they are. */
export const bodyLimitOf = ({ bodyLimit, access }: Documentation): number =>
  bodyLimit ?? (access === 'public' ? PUBLIC_BODY_BYTES : BODY_BYTES);

/** A GET, or a read by POST: no receipt. */
interface ReadOperation extends Documentation {
  kind: 'read';
  handle: (call: Call) => Promise<Reply>;
}

/** A POST without a receipt that has effects: signing in and out, accepting an invitation. */
interface PlainOperation extends Documentation {
  kind: 'plain';
  handle: (call: Call) => Promise<Reply>;
}

/** A write in one transaction with its receipt. */
export interface WriteOperation extends Documentation {
  kind: 'write';
  /**
   * Slow checks before the receipt and outside of a transaction; also of a call that turns out to be a
   * replay.
   */
  before?: (call: Call) => Promise<unknown>;
  handle: (
    tx: Tx,
    call: Call,
    receipt: Receipt,
    prepared: unknown,
  ) => Promise<WriteResult & { headers?: Record<string, string | string[]> }>;
}

/** A write with work outside of a transaction; see receipts/receipts.ts. */
export interface ClaimedOperation extends Documentation {
  kind: 'claimed';
  mode: 'staged' | 'job' | 'outside';
  /** `operation.updated` with `pending` at the claim. */
  publishesPending: boolean;
  /**
   * Before the receipt: authorizes, parses and validates. The fingerprint takes its digest in place of the
   * body.
   */
  prepare: (call: Call) => Promise<Prepared<unknown>>;
  handle: (call: Call, claim: Claim, prepared: unknown) => Promise<WriteResult>;
}

export type Operation = ReadOperation | PlainOperation | WriteOperation | ClaimedOperation;

/** What a claimed write knows before its claim. */
export interface Prepared<P> {
  bodyDigest?: Buffer;
  legacyKey?: { path: string; value: string }[];
  scope?: EventScope;
  prepared: P;
  onClaim?: (tx: Tx, operationId: string) => Promise<EventScope | undefined>;
  /** Mode `outside`: see receipts/outside-write.ts. */
  look?: { name: string; target: Record<string, unknown> };
}

/** What a schema lets through; nothing where an operation has none. */
type Checked<S> = S extends TSchema ? Static<S> : Record<string, never>;

/** An operation whose handlers get what its own schemas let through. */
type Definition<O extends Operation, QS, BS, Handlers> = Omit<
  O,
  'kind' | 'query' | 'body' | 'before' | 'prepare' | 'handle'
> & { query?: QS; body?: BS } & Handlers;

type Schema = TSchema | undefined;

export const read = <QS extends Schema = undefined, BS extends Schema = undefined>(
  definition: Definition<
    ReadOperation,
    QS,
    BS,
    { handle: (call: Call<Checked<QS>, Checked<BS>>) => Promise<Reply> }
  >,
): Operation => ({ ...definition, kind: 'read' }) as ReadOperation;

export const plain = <QS extends Schema = undefined, BS extends Schema = undefined>(
  definition: Definition<
    PlainOperation,
    QS,
    BS,
    { handle: (call: Call<Checked<QS>, Checked<BS>>) => Promise<Reply> }
  >,
): Operation => ({ ...definition, kind: 'plain' }) as PlainOperation;

/**
 * What `before` returns is passed to `handle`, which has to check again whatever may have changed
 * meanwhile.
 */
export const write = <QS extends Schema = undefined, BS extends Schema = undefined, P = undefined>(
  definition: Definition<
    WriteOperation,
    QS,
    BS,
    {
      before?: (call: Call<Checked<QS>, Checked<BS>>) => Promise<P>;
      handle: (
        tx: Tx,
        call: Call<Checked<QS>, Checked<BS>>,
        receipt: Receipt,
        prepared: P,
      ) => Promise<WriteResult>;
    }
  >,
): Operation => ({ ...definition, kind: 'write' }) as WriteOperation;

export const claimedWrite = <P, QS extends Schema = undefined, BS extends Schema = undefined>(
  definition: Definition<
    ClaimedOperation,
    QS,
    BS,
    {
      prepare: (call: Call<Checked<QS>, Checked<BS>>) => Promise<Prepared<P>>;
      handle: (call: Call<Checked<QS>, Checked<BS>>, claim: Claim, prepared: P) => Promise<WriteResult>;
    }
  >,
): Operation => ({ ...definition, kind: 'claimed' }) as ClaimedOperation;

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface Route {
  method: Method;
  /** Fastify form: `/api/platform/v1/apps/:appId`. */
  path: string;
  operation: Operation;
  /** operationId: the operation's name, with `.byProject` or `.direct` on further paths. */
  operationId: string;
}

export const PLATFORM = '/api/platform/v1';

/** Both forms of a Platform path: `/apps/:appId…` and `/projects/:projectId…`. */
export function platformRoute(method: Method, path: string, operation: Operation): Route[] {
  const first: Route = { method, path: `${PLATFORM}${path}`, operation, operationId: operation.name };
  if (!path.startsWith('/apps/:appId')) return [first];
  return [
    first,
    {
      ...first,
      path: first.path.replace('/apps/:appId', '/projects/:projectId'),
      operationId: `${operation.name}.byProject`,
    },
  ];
}

/**
 * A sub-resource of an app or a Direct project: both Platform forms and the Direct one. `path` begins with
 * `/apps/:appId/`.
 */
export function projectRoute(method: Method, path: string, operation: Operation): Route[] {
  return [
    ...platformRoute(method, path, operation),
    directRoute(method, path.replace('/apps/:appId', '/projects/:projectId'), operation, 'further'),
  ];
}

/**
 * A thread's sub-resource: both Platform forms and the Direct one. `path` begins with `/threads/:threadId`.
 */
export function threadRoute(method: Method, path: string, operation: Operation): Route[] {
  return [
    ...platformRoute(method, `/apps/:appId${path}`, operation),
    directRoute(method, path, operation, 'further'),
  ];
}

/** A Direct path. It is `further` when the operation has a Platform path already. */
export function directRoute(
  method: Method,
  path: string,
  operation: Operation,
  place: 'first' | 'further' = 'first',
): Route {
  return {
    method,
    path: `/api${path}`,
    operation,
    operationId: place === 'further' ? `${operation.name}.direct` : operation.name,
  };
}
