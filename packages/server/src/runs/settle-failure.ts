import { RunnerError } from '@headrace/runner/client';
import {
  captureWorkspace,
  isBeyondReading,
  resetWorkspace,
  stageCapture,
  WorkspaceChanged,
} from '../workspaces/index.ts';
import type { Capture } from '../workspaces/index.ts';
import type { StartedRun } from './claimed-run.ts';
import type { RunEnd } from './finish-run.ts';
import { settleRun } from './settle-run.ts';
import type { Leftover } from './settle-run.ts';
import { snapshotSource } from './snapshots/keep-snapshot.ts';

/** Whether the runner cannot read a workspace for good: not because it, or the store, is away or busy. */
export const isSandboxFault = (error: unknown): boolean =>
  error instanceof WorkspaceChanged ||
  (error instanceof RunnerError && error.status !== 409 && error.status !== 503);

interface Recovery {
  /** Null where the workspace could not be read, or its contents could not be kept. */
  capture: Capture | null;
  /** What is kept as a `recovery` source. */
  source?: RunEnd['source'];
  leftover: Leftover;
  /** Whether the workspace is gone, or out of reach. */
  isLost?: boolean;
}

/**
 * Settles a run that failed or was stopped: what had changed is kept as a `recovery` source, without what no
 * source can hold, then the source files are put back. The run is settled first: a worker that dies in between would
 * find the workspace put back, and nothing to keep. The end does not wait for what cannot be kept now: the
 * workspace stays as it is, and its next use or its own end keeps it. `known`: the workspace as it was
 * captured already; null where it cannot be read. Of a workspace that is gone the run's snapshot is kept.
 */
export async function settleFailure(started: StartedRun, end: RunEnd, known?: Capture | null): Promise<void> {
  const { ctx, job, run, thread } = started;
  const {
    capture,
    source,
    leftover,
    isLost = false,
  } = known === null ? UNREADABLE : await recover(started, known);
  const warnings = capture ? { warnings: capture.warnings } : {};
  const settled = await settleRun(
    started,
    { ...end, ...warnings, ...(source ? { source } : {}) },
    { leftover, isLost },
  );
  if (settled === 'ended' && leftover === 'unknown') await dropWorkspace(started);
  // A person's folder stays as it is.
  if (settled !== 'ended' || !capture || capture.isUnchanged || ctx.host) return;
  // Where this fails, the next use of the workspace does it.
  await resetWorkspace(ctx, job, thread, { sourceId: run.base_source_id, present: capture }).catch(
    (err: unknown) => ctx.log.warn({ err, run: run.id }, 'a workspace could not be put back yet'),
  );
}

/** Settles a run that failed with its runner: the workspace is restored elsewhere, and of its files the snapshot is kept. */
export async function settleWithoutRunner(started: StartedRun, end: RunEnd): Promise<void> {
  const source = await snapshotSource(started);
  await settleRun(started, { ...end, ...(source ? { source } : {}) }, { leftover: 'unknown', isLost: true });
}

const UNREADABLE: Recovery = { capture: null, leftover: 'unknown' };

/** Frees the memory of a workspace that is restored before its next use. */
export async function dropWorkspace({ ctx, job, run, thread }: StartedRun): Promise<void> {
  await ctx.runner
    .deleteWorkspace(thread.id, job.claimedAt)
    .catch((err: unknown) => ctx.log.debug({ err, run: run.id }, 'a workspace was not removed'));
}

async function recover(started: StartedRun, known?: Capture): Promise<Recovery> {
  const { ctx, run, thread } = started;
  const { base_source_id: baseSourceId } = run;
  try {
    const capture = known ?? (await captureWorkspace(ctx, thread, baseSourceId));
    if (capture.isUnchanged) return { capture, leftover: 'at base' };
    if (capture.held === null) return { capture, leftover: 'changed' };
    const kept = { ...capture, tree: capture.held };
    const staged = await stageCapture(ctx, thread, kept, baseSourceId);
    const parents = baseSourceId === null ? [] : [baseSourceId];
    return {
      capture,
      source: { tree: kept.tree, staged, origin: 'recovery', parents },
      leftover: capture.fault === null ? 'changed' : 'partly kept',
    };
  } catch (err) {
    const leftover = isSandboxFault(err) ? 'unknown' : 'changed';
    ctx.log.warn(
      { err, run: run.id },
      leftover === 'unknown'
        ? 'a workspace could not be read; it is restored anew'
        : 'what a run had changed could not be kept yet',
    );
    // One that can never be read is there, and far beyond a source.
    if (isBeyondReading(err)) return { capture: null, leftover };
    const source = await snapshotSource(started);
    return {
      capture: null,
      ...(source ? { source } : {}),
      // A workspace that comes back may hold more.
      leftover: source && leftover === 'changed' ? 'partly kept' : leftover,
      isLost: true,
    };
  }
}
