/** The content of a pass. It is read before the pass's transaction, since logs come from the provider. */
import { effectiveSettings } from '../settings/index.ts';
import type { Looked } from '../sync/index.ts';
import { withLogs } from './check-logs.ts';
import { passText } from './pass-text.ts';
import type { Point } from './points.ts';

export type Told =
  /** The base conflicts and is merged into the branch. Other problems wait. */
  | { kind: 'update' }
  /** `points`: those that fit into the message. */
  | { kind: 'message'; content: string; instructions: string; points: Point[] };

/** Throws ProviderError if the provider is unavailable. */
export async function readTold(looked: Looked, points: Point[]): Promise<Told> {
  if (looked.pull.mergeable === 'conflicting') return { kind: 'update' };
  const { reviewLoop: settings } = await effectiveSettings(looked.ctx.db, looked.loaded.row);
  const failing = (looked.checks ?? []).filter(({ state }) => state === 'failing');
  const checks = await withLogs(looked.repository, failing);
  const { content, pointCount } = passText({ instructions: settings.instructions, checks, points });
  return {
    kind: 'message',
    content,
    instructions: settings.instructions,
    points: points.slice(0, pointCount),
  };
}
