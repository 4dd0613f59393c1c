/** The content of a pass. It is read before the pass's transaction, since logs come from the provider. */
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
export async function readTold(looked: Looked, points: Point[], instructions: string): Promise<Told> {
  if (looked.pull.mergeable === 'conflicting') return { kind: 'update' };
  const failing = (looked.checks ?? []).filter(({ state }) => state === 'failing');
  const checks = await withLogs(looked.repository, failing);
  const { content, pointCount } = passText({ instructions, checks, points });
  return {
    kind: 'message',
    content,
    instructions,
    points: points.slice(0, pointCount),
  };
}
