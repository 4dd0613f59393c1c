/** A job as its handler sees it, and what a domain registers for its kinds of jobs. */
import type { Tx } from '../db/transaction.ts';
import type { JobKind, JobKinds } from './enqueue.ts';

export interface Job<K extends JobKind = JobKind> {
  id: number;
  attempt: number;
  /**
   * On the database's clock, in ms. A later attempt of the job, and the next job of its key, have a later
   * one: it fences what is done outside of the database.
   */
  claimedAt: number;
  /** On the database's clock: no later than what it was enqueued for. */
  enqueuedAt: Date;
  /** How many earlier attempts threw. */
  failures: number;
  payload: JobKinds[K];
  /** Locks the job for this transaction; throws LostJob when another attempt has it. */
  fence(tx: Tx): Promise<void>;
  /**
   * Queues the job again in this transaction, until `waitsFor` ends (`wakeWaiting`), or `delaySeconds` are over:
   * it keeps its place among the jobs of its key. Its handler returns afterwards. Throws LostJob.
   */
  putOff(tx: Tx, waitsFor: string, delaySeconds: number): Promise<void>;
  /**
   * Aborted when this worker stops or has lost its lock: leave everything as it is, another attempt goes on.
   */
  signal: AbortSignal;
  /** Says that the job waits for a person, or that it goes on. Repeating it changes nothing. */
  setWaiting(isWaiting: boolean): void;
}

/** A job that this worker works on. */
export interface HeldJob {
  kind: JobKind;
  /** Whose turn it took; '' for jobs without an organization. */
  org: string;
  /** When it was claimed, on this process's clock. */
  since: number;
  /**
   * For a person: it has its memory, and works as little as one that is queued. Its project's turns do not
   * count it.
   */
  isWaiting: boolean;
}

/** What a worker may hold of a kind now. */
export interface Room {
  /** Of all organizations, those that wait included. */
  most: number;
  /** Organizations that may have no more. */
  full: readonly string[];
}

type JobHandler<K extends JobKind> = (job: Job<K>) => Promise<void>;

interface JobHandling<K extends JobKind> {
  run: JobHandler<K>;
  /**
   * How many of the kind this worker may hold. A function is called before each claim, with all jobs that
   * the worker holds.
   */
  concurrency: number | ((held: readonly HeldJob[]) => Room);
  /** After the last failed attempt. */
  onDead?: (payload: JobKinds[K], error: unknown) => Promise<void>;
}

export type JobHandlers = { [K in JobKind]?: JobHandling<K> };

/** Another attempt has the job: nothing that this one writes may be committed. */
export class LostJob extends Error {}
