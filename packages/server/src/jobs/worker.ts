/**
 * The job worker. Why a table of our own: receipts, events and jobs share one transaction, an uncertain
 * build must not be run again, and a killed worker's work has to be noticed in a second (measured: this
 * table 0.5 s, pg-boss 11-30 s, graphile-worker 4 h).
 *
 *   queued --claim (SKIP LOCKED, attempt + 1)--> active --handler returned--> (deleted)
 *                                                active --handler threw-----> queued, later (backoff), at
 *                                                most MAX_FAILURES times
 *                                                active --its worker died---> queued (its next claim has a
 *                                                higher attempt)
 *
 * Every write of a handler that matters is fenced: `job.fence(tx)` fails when the job was taken over
 * meanwhile. A worker is dead when its session lock is free AND its heartbeat is over 2 s old AND the
 * checker has seen this server for 5 s without a break: a restart or a failover frees every lock at once. A worker that
 * lost its lock for 4 s stops its own work first.
 *
 * The eldest living worker keeps house for all: it looks for dead ones, and does what reconciles rows alone (`isHousekeeper`).
 * Its heartbeat says so; the next one takes over when its lock is free, or it is 2 s silent. Two of them
 * for a moment do no harm: what they do is safe in every process at once, and only costs.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { secondsSince } from '@headrace/runner/metrics';
import type { Bus } from '../bus.ts';
import { openDatabase } from '../db/database.ts';
import type { DatabaseHandle, Db } from '../db/database.ts';
import type { JobRow } from '../db/schema.ts';
import { newId } from '../ids.ts';
import { attemptJob } from './attempt-job.ts';
import type { AnyHandling } from './attempt-job.ts';
import { sumBusyCounts } from './busy-counts.ts';
import { createClaim } from './claim.ts';
import type { Claimable } from './claim.ts';
import type { JobKind } from './enqueue.ts';
import { every } from './every.ts';
import type { ServerMetrics } from '../metrics/table.ts';
import type { HeldJob, JobHandlers } from './job.ts';
import {
  countWorkers,
  deleteWorker,
  isAnyDue,
  queueForgottenJobs,
  queueJobsOf,
  queueLostJobs,
  setJobWaiting,
} from './store.ts';
import { WorkerLock } from './worker-lock.ts';

const HEARTBEAT_MS = 500;
/** Every so many heartbeats a worker compares the jobs that it holds with the rows, and counts the workers. */
const COMPARE_EVERY = 8;
/**
 * All workers together look for due jobs every 50 ms, or more often where there are few of them. Each looks every second, or up
 * to three where there are many.
 */
const POLL_MS = { each: 50, least: 1_000, most: 3_000 };
/**
 * A hint tells all workers at once of a job that one of them takes. So they look one after the other, in any order, about
 * this far apart.
 */
const SPREAD_MS = 5;
/** Without its lock for this long a worker stops its own work: others take it over by then. */
const LOST_MS = 4_000;

interface WorkerContext {
  db: Db;
  bus: Bus;
  log: Logger;
  metrics: ServerMetrics;
}

interface WorkerParts {
  id: string;
  lock: WorkerLock;
  handlers: JobHandlers;
  claims: DatabaseHandle;
}

type Running = HeldJob & { done: Promise<void> };

/**
 * Starts claiming jobs of the handlers' kinds. Claims have a connection of their own, which plans their
 * statement once: left to choose, PostgreSQL plans it each time (3.5 ms a claim among 10,000 jobs, against 1.3).
 */
export async function startWorker(
  ctx: WorkerContext,
  connection: pg.PoolConfig,
  handlers: JobHandlers,
): Promise<JobWorker> {
  const id = newId('wrk');
  const lock = await WorkerLock.take(ctx.db, id, connection);
  const claims = openDatabase(
    { ...connection, options: '-c plan_cache_mode=force_generic_plan' },
    { max: 1 },
  );
  const worker = new JobWorker(ctx, { id, lock, handlers, claims });
  await worker.start();
  return worker;
}

export class JobWorker {
  readonly #ctx: WorkerContext;
  readonly #id: string;
  readonly #lock: WorkerLock;
  readonly #handlers: JobHandlers;
  readonly #claims: DatabaseHandle;
  readonly #claim: (claimable: Claimable) => Promise<JobRow | undefined>;
  readonly #running = new Map<number, Running>();
  readonly #stopped = new AbortController();
  readonly #undo: (() => void)[] = [];
  /** Aborted, and replaced, when the lock was lost for too long. */
  #tenure = new AbortController();
  /** Since when heartbeats fail. */
  #lostAt: number | null = null;
  /** How many workers live, this one included. */
  #workers = 1;
  #isEldest = false;
  #beats = 0;
  #isClaiming = false;
  #claimAgain = false;
  #claimTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;

  constructor(ctx: WorkerContext, parts: WorkerParts) {
    this.#ctx = ctx;
    this.#id = parts.id;
    this.#lock = parts.lock;
    this.#handlers = parts.handlers;
    this.#claims = parts.claims;
    this.#claim = createClaim(parts.claims.db, parts.id);
  }

  /** Whether this worker reconciles for all. What it starts is safe in every process at once. */
  get isHousekeeper(): boolean {
    return this.#isEldest;
  }

  async start(): Promise<void> {
    const onFailure = (error: unknown) => this.#missBeat(error);
    await this.#beat().catch(onFailure);
    const beating = every(HEARTBEAT_MS, () => this.#beat(), { onFailure });
    this.#undo.push(
      () => void beating.stop(),
      () => clearTimeout(this.#pollTimer),
      () => clearTimeout(this.#claimTimer),
      this.#ctx.bus.listen('jobs', () => this.#claimSoon()),
    );
    this.#ctx.bus.onReconnect(() => this.#claimSoon());
    this.#poll();
    void this.#claimAll();
  }

  #poll(): void {
    const ms = Math.min(POLL_MS.most, Math.max(POLL_MS.least, this.#workers * POLL_MS.each));
    this.#pollTimer = setTimeout(() => {
      void this.#look();
      this.#poll();
    }, ms);
  }

  /** Mostly there is nothing: that costs a twentieth of a claim. */
  async #look(): Promise<void> {
    if (await isAnyDue(this.#ctx.db).catch(() => true)) await this.#claimAll();
  }

  /** After a hint. */
  #claimSoon(): void {
    if (this.#workers === 1) return void this.#claimAll();
    if (this.#claimTimer) return;
    this.#claimTimer = setTimeout(
      () => {
        this.#claimTimer = undefined;
        void this.#look();
      },
      Math.random() * this.#workers * SPREAD_MS,
    ).unref();
  }

  /**
   * Stops claiming, aborts the handlers' signals, waits for them at most `graceMs`, gives their jobs back.
   */
  async stop(graceMs: number): Promise<void> {
    for (const undo of this.#undo) undo();
    this.#stopped.abort();
    this.#isEldest = false;
    await Promise.race([
      Promise.allSettled([...this.#running.values()].map((running) => running.done)),
      new Promise((resolve) => {
        setTimeout(resolve, graceMs).unref();
      }),
    ]);
    await queueJobsOf(this.#ctx.db, this.#id).catch(() => {});
    await deleteWorker(this.#ctx.db, this.#id).catch(() => {});
    await this.#claims.close();
    await this.#lock.release();
  }

  async #beat(): Promise<void> {
    const isEldest = await this.#lock.beat();
    this.#lostAt = null;
    this.#isEldest = isEldest && !this.#stopped.signal.aborted;
    const { db, bus } = this.#ctx;
    let isAnyLost = this.#isEldest && (await queueLostJobs(db, this.#id, bus.seenServer()));
    if (this.#beats++ % COMPARE_EVERY === 0) {
      if (await queueForgottenJobs(db, this.#id, [...this.#running.keys()])) isAnyLost = true;
      if (this.#isEldest) await sumBusyCounts(db);
      this.#workers = Math.max(1, await countWorkers(db));
    }
    if (isAnyLost) bus.notify('jobs');
  }

  #missBeat(error: unknown): void {
    this.#ctx.log.debug({ err: error }, 'worker heartbeat failed');
    this.#isEldest = false;
    this.#lostAt ??= Date.now();
    if (Date.now() - this.#lostAt < LOST_MS || this.#running.size === 0) return;
    this.#ctx.log.warn(
      { jobs: [...this.#running.keys()] },
      'this worker lost its lock; its jobs will be taken over',
    );
    this.#tenure.abort();
    this.#tenure = new AbortController();
  }

  /** The kinds of which this worker may hold one more. */
  #claimable(): Claimable {
    const held = [...this.#running.values()];
    const claimable = new Map<JobKind, readonly string[]>();
    for (const kind of Object.keys(this.#handlers) as JobKind[]) {
      const { concurrency } = this.#handlers[kind]!;
      const { most, full } =
        typeof concurrency === 'number' ? { most: concurrency, full: [] } : concurrency(held);
      if (held.filter((job) => job.kind === kind).length < most) claimable.set(kind, full);
    }
    return claimable;
  }

  /** One at a time: a call while one is under way makes that one look again. */
  async #claimAll(): Promise<void> {
    if (this.#isClaiming) {
      this.#claimAgain = true;
      return;
    }
    this.#isClaiming = true;
    try {
      do {
        this.#claimAgain = false;
        while (!this.#stopped.signal.aborted && this.#lock.isHeld) {
          const began = performance.now();
          const row = await this.#claim(this.#claimable());
          this.#ctx.metrics.observe('headrace_job_claim_seconds', {}, secondsSince(began));
          if (!row) break;
          this.#begin(row);
        }
      } while (this.#claimAgain);
    } catch (error) {
      this.#ctx.log.debug({ err: error }, 'claiming jobs failed');
    } finally {
      this.#isClaiming = false;
    }
  }

  #begin(row: JobRow): void {
    const kind = row.kind as JobKind;
    const held: Running = {
      kind,
      org: row.fair_org,
      since: Date.now(),
      isWaiting: false,
      done: Promise.resolve(),
    };
    this.#running.set(row.id, held);
    held.done = this.#attempt(row, held);
  }

  async #attempt(row: JobRow, held: Running): Promise<void> {
    await attemptJob(this.#ctx, row, this.#handlers[held.kind] as AnyHandling, {
      signal: AbortSignal.any([this.#stopped.signal, this.#tenure.signal]),
      setWaiting: this.#waitingOf(row, held),
    });
    if (this.#running.get(row.id) === held) this.#running.delete(row.id);
    void this.#claimAll();
  }

  /** Frees the job's place here at once; the row says it, in order, to the other workers' turns. */
  #waitingOf(row: JobRow, held: HeldJob): (isWaiting: boolean) => void {
    let recorded: Promise<unknown> = Promise.resolve();
    return (isWaiting) => {
      if (held.isWaiting === isWaiting) return;
      held.isWaiting = isWaiting;
      recorded = recorded
        .then(() => setJobWaiting(this.#ctx.db, row, isWaiting))
        .catch((err: unknown) =>
          this.#ctx.log.debug({ err, job: row.id }, 'a job that waits could not be recorded'),
        );
      if (isWaiting) void this.#claimAll();
    };
  }
}
