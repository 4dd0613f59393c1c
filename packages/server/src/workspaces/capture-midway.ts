import type { Context } from '../context.ts';
import type { ThreadRow } from '../db/schema.ts';
import { encodeDelta } from '../trees/manifest.ts';
import { basisOf, contentsBeyond, judged, readCaptured } from './capture-workspace.ts';

/** The files of a turn under way. */
export interface Midway {
  /** As a delta to the run's base. */
  delta: Buffer;
  /** The contents that the base does not have, by SHA-256. */
  blobs: Map<string, Buffer>;
}

interface Turn {
  taskId: string;
  baseSourceId: string | null;
  /** The delta of the capture before; null for none. */
  before: Buffer | null;
}

/**
 * Captures the workspace of a turn under way, by the rules of all captures. The turn is paused for it, with all that its agent
 * has started, so that the files are as they were at one moment. Null where there is nothing new, or the
 * files exceed a limit. Throws the runner's error; then the turn goes on.
 */
export async function captureMidway(
  ctx: Context,
  thread: ThreadRow,
  { taskId, baseSourceId, before }: Turn,
): Promise<Midway | null> {
  // Read before the pause, which then lasts as long as the runner reads.
  const basis = await basisOf(ctx, thread, baseSourceId);
  await ctx.runner.pause(taskId);
  try {
    const capture = judged(ctx, basis, await ctx.runner.capture(thread.id, basis.request));
    if (capture.isUnchanged && before === null) return null;
    const tree = capture.held ?? basis.base;
    if (capture.held === null && !capture.isUnchanged) return null;
    const delta = encodeDelta(basis.base, tree);
    if (before?.equals(delta)) return null;
    const wanted = contentsBeyond({ tree, below: capture.below }, basis.base);
    return { delta, blobs: await readCaptured(ctx, thread.id, wanted) };
  } finally {
    // Without an answer the runner lets it go on by itself.
    await ctx.runner.resume(taskId).catch(() => null);
  }
}
