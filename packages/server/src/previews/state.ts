/**
 * The status of a preview. The row decides: the sandbox follows it, and the proxy serves by it.
 *
 *   starting                  listen   ready     something listens on its port
 *   starting, ready           fail     failed    its command ended, its sandbox was lost, or nothing listened
 *                                                for 60 s
 *   starting, ready           move     starting  its runner drains: it starts again at another one
 *   starting, ready, failed   stop     stopped   it was deleted, its life is over, or its thread or app was
 *                                                archived or deleted
 */
import type { PreviewRow } from '../db/schema.ts';

export type PreviewStatus = PreviewRow['status'];
export type PreviewEvent = 'listen' | 'fail' | 'move' | 'stop';

/** Previews that have a sandbox, or will get one. */
export const OPEN = ['starting', 'ready'] as const satisfies PreviewStatus[];
export const OVER = ['failed', 'stopped'] as const satisfies PreviewStatus[];

const TRANSITIONS = {
  listen: { from: ['starting'], to: 'ready' },
  fail: { from: OPEN, to: 'failed' },
  move: { from: OPEN, to: 'starting' },
  stop: { from: [...OPEN, 'failed'], to: 'stopped' },
} as const satisfies Record<PreviewEvent, { from: readonly PreviewStatus[]; to: PreviewStatus }>;

/** Which statuses an event needs, and which one it leaves. */
export const previewChange = (event: PreviewEvent): { from: readonly PreviewStatus[]; to: PreviewStatus } =>
  TRANSITIONS[event];

export const isOpen = ({ status }: Pick<PreviewRow, 'status'>): boolean =>
  (OPEN as readonly PreviewStatus[]).includes(status);
