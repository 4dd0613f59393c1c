/**
 * Keeps the work of a run under way, so that a runner that dies takes at most 30 seconds of it along: after tool
 * calls the workspace is captured, staged in the store and recorded. Only the newest capture is kept, and only
 * while the run is under way; the end of a run whose workspace is gone makes it a `recovery` source.
 *
 *   due       tools have worked since the last capture, and its time has come (pace.ts)
 *   reading   the turn is paused while the runner reads (workspaces/capture-midway.ts)
 *   staging   the turn goes on; the contents go to the store
 *   kept      one transaction: the fence, the run is under way, the record
 *
 * A capture that fails is skipped: the run goes on, and the next one is due soon.
 */
import { RunnerError } from '@headrace/runner/client';
import type { JournalEntry } from '@headrace/runner/protocol';
import { within } from '../../deadline.ts';
import { every } from '../../jobs/every.ts';
import type { Loop } from '../../jobs/every.ts';
import { LostJob } from '../../jobs/job.ts';
import { abandon, stageBlobs } from '../../sources/index.ts';
import { captureMidway } from '../../workspaces/index.ts';
import type { Midway } from '../../workspaces/index.ts';
import type { StartedRun } from '../claimed-run.ts';
import { keepSnapshot } from './keep-snapshot.ts';
import { pace } from './pace.ts';

/** What was read before the runner died is worth this wait. */
const LAST_MS = 10_000;

type ToolEntry = Pick<Extract<JournalEntry, { type: 'tool' }>, 'toolCallId' | 'status'>;

export class RollingSnapshot {
  readonly #started: StartedRun;
  readonly #isWaiting: () => boolean;
  readonly #loop: Loop;
  /** Tool calls under way. */
  readonly #open = new Set<string>();
  #hasWorked = false;
  #lastAt: number;
  /** Where that one failed: when the next one is due. */
  #againAt: number | null = null;
  /** The delta of the last one that was kept. */
  #before: Buffer | null = null;
  #reading: Promise<Midway | null> | null = null;
  #underWay: Promise<void> | null = null;
  #isOver = false;

  /** `isWaiting`: whether the run waits for an answer, and so does no work. */
  constructor(started: StartedRun, isWaiting: () => boolean) {
    this.#started = started;
    // The worker before may have died at any time since the last one.
    this.#lastAt = started.isResumed ? 0 : Date.now();
    this.#isWaiting = isWaiting;
    this.#loop = every(pace.lookMs, async () => this.#look(), { onFailure: () => {} });
  }

  /** Takes note of a tool call, whose journal may be read again. */
  note({ toolCallId, status }: ToolEntry): void {
    if (status === 'pending' || status === 'running') this.#open.add(toolCallId);
    else this.#open.delete(toolCallId);
    this.#hasWorked = true;
  }

  /**
   * Takes no further one. Resolves once the workspace is no longer read; where it was lost, once the last
   * capture is kept, too.
   */
  async stop(workspace: 'lost' | 'kept'): Promise<void> {
    void this.#loop.stop();
    this.#isOver = workspace === 'kept';
    const last = this.#isOver ? this.#reading : this.#underWay;
    await within(LAST_MS, Promise.resolve(last)).catch(() => null);
  }

  #look(): void {
    if (this.#underWay || !this.#isDue()) return;
    this.#hasWorked = false;
    this.#lastAt = Date.now();
    this.#againAt = null;
    this.#underWay = this.#take().finally(() => {
      this.#underWay = null;
    });
  }

  #isDue(): boolean {
    const isWorking = this.#open.size > 0 && !this.#isWaiting();
    if (!this.#hasWorked && !isWorking) return false;
    if (this.#againAt !== null) return Date.now() >= this.#againAt;
    return Date.now() - this.#lastAt >= (isWorking ? pace.fullMs : pace.quietMs);
  }

  async #take(): Promise<void> {
    const { ctx, run } = this.#started;
    try {
      await this.#capture();
    } catch (err) {
      this.#hasWorked = true;
      const now = Date.now();
      this.#againAt = now + Math.min(pace.fullMs, Math.max(pace.againMs, 2 * (now - this.#lastAt)));
      // The end of the turn, or of its runner, comes in between.
      const level = err instanceof RunnerError || err instanceof LostJob ? 'debug' : 'warn';
      ctx.log[level]({ err, run: run.id }, 'the work of a run could not be kept for now; it is tried again');
    }
  }

  async #capture(): Promise<void> {
    const { ctx, run, thread } = this.#started;
    this.#reading = captureMidway(ctx, thread, {
      taskId: run.id,
      baseSourceId: run.base_source_id,
      before: this.#before,
    });
    const read = await this.#reading.finally(() => {
      this.#reading = null;
    });
    if (!read || this.#isOver) return;
    const project = { org_id: run.org_id, id: run.project_id };
    const staged = await stageBlobs(ctx, project, read.blobs);
    let isKept = false;
    try {
      isKept = !this.#isOver && (await keepSnapshot(this.#started, { delta: read.delta, staged }));
    } finally {
      if (!isKept) await abandon(ctx, project, staged);
    }
    if (isKept) this.#before = read.delta;
  }
}
