/**
 * Watches a run while its journal is read, on wake-ups and once a second: passes on a stop, gives the agent
 * the answers and messages that it waits for, closes expired questions, gives its place to others while it waits,
 * and kills a run that its thread has ended or whose model fails for good.
 */
import { sql } from 'kysely';
import { resolvedApprovals } from '../approvals/index.ts';
import { rowsPrepared } from '../db/prepared.ts';
import { every } from '../jobs/every.ts';
import type { Loop } from '../jobs/every.ts';
import type { ClaimedRun } from './claimed-run.ts';
import { isHopeless } from './model-failure.ts';
import { expireOverdue, sendAnswer } from './questions.ts';
import { isActive } from './state.ts';
import { deliverMessages } from './steering.ts';
import { WaitingPlace } from './waiting-place.ts';

const LOOK_MS = 1_000;

export class RunWatch {
  /** Whether the run was ended by its thread. */
  isGone = false;
  /** Whether the run waits for an answer. */
  isWaiting = false;
  #isCancelled = false;
  #isDelivering = false;
  #isStopped = false;
  readonly #place: WaitingPlace;
  readonly #answered = new Set<string>();
  readonly #claimed: ClaimedRun;
  readonly #loop: Loop;
  readonly #unlisten: () => void;

  constructor(claimed: ClaimedRun) {
    this.#claimed = claimed;
    this.#place = new WaitingPlace(claimed);
    const { ctx, run } = claimed;
    this.#loop = every(LOOK_MS, () => this.#look(), {
      onFailure: (err) =>
        ctx.log.debug(
          { err, run: run.id },
          'looking after a run failed; it is looked after again in a second',
        ),
    });
    this.#unlisten = ctx.bus.listen('control', (threadId) => {
      if (threadId === run.thread_id) this.#loop.runNow();
    });
    this.#loop.runNow();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unlisten();
    void this.#loop.stop();
  }

  async #look(): Promise<void> {
    const { ctx, job } = this.#claimed;
    const now = await this.#read();
    const isOpen = now !== undefined && isActive(now.status);
    this.isWaiting = now?.status === 'waiting';
    // At its end the job gives the place back.
    const goesOn = !isOpen || this.#isStopped || (await this.#place.follow(this.isWaiting));
    job.setWaiting(this.isWaiting || !goesOn);
    if (!isOpen) this.isGone = true;
    if (!isOpen || now.cancel_requested_at || isHopeless(now.model_failure)) await this.#cancel();
    if (!isOpen) return;
    if (now.steerable) void this.#deliver();
    if (!now.has_asked) return;
    await expireOverdue(ctx, this.#claimed.run);
    if (goesOn) await this.#passAnswers();
  }

  async #read() {
    const { ctx, run } = this.#claimed;
    const query = ctx.db
      .selectFrom('runs')
      .select([
        'status',
        'cancel_requested_at',
        'steerable',
        'model_failure',
        sql<boolean>`exists (select from approvals where run_id = runs.id)`.as('has_asked'),
      ])
      .where('id', '=', run.id);
    return (await rowsPrepared(ctx.db, 'watch_run', query)).at(0);
  }

  async #cancel(): Promise<void> {
    if (this.#isCancelled) return;
    const { ctx, run } = this.#claimed;
    await ctx.runner.cancel(run.id);
    this.#isCancelled = true;
  }

  /**
   * Looking goes on meanwhile: the agent answers when it takes a message, and may first wait for an answer,
   * or be stopped.
   */
  async #deliver(): Promise<void> {
    if (this.#isDelivering) return;
    const { ctx, run } = this.#claimed;
    this.#isDelivering = true;
    try {
      await deliverMessages(ctx, run);
    } catch (err) {
      ctx.log.debug({ err, run: run.id }, 'a message was not taken yet; it is offered again in a second');
    } finally {
      this.#isDelivering = false;
    }
  }

  async #passAnswers(): Promise<void> {
    const { ctx, run } = this.#claimed;
    const resolved = await ctx.db
      .selectFrom('approvals')
      .select(['request_id', 'status'])
      .where('run_id', '=', run.id)
      .where(resolvedApprovals)
      .execute();
    for (const { request_id: requestId, status } of resolved) {
      if (this.#answered.has(requestId)) continue;
      await sendAnswer(ctx, run.id, requestId, status === 'approved');
      this.#answered.add(requestId);
    }
  }
}
