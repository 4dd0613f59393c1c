/** The two feeds: every event is on exactly one of them, and each has its own cursors. */
import type { DirectEvent, DirectFeed } from '@headrace/client';

/** `apps`: the feed of all apps. `direct`: everything else. */
export type LaneName = 'apps' | 'direct';

/** That of a project. */
export const laneOf = (kind: 'platform' | 'direct'): LaneName => (kind === 'direct' ? 'direct' : 'apps');

/** A thread, and the feed that has its events. */
export interface LiveThread {
  lane: LaneName;
  appId: string;
  threadId: string;
}

// Typed as the feed whose events have less.
export const FEEDS: Record<LaneName, DirectFeed> = { apps: {} as DirectFeed, direct: { direct: true } };

/** With the thread's events only, and its drafts. */
export const feedOf = ({ lane, appId, threadId }: LiveThread): DirectFeed =>
  lane === 'direct'
    ? { direct: true, projectId: appId, threadId }
    : ({ appId, threadId } as object as DirectFeed);

/** Of either feed. */
export type LiveEvent = DirectEvent;

/** Up to where the events of each feed are known. */
export type Cursors = Partial<Record<LaneName, string>>;

/** Everything between `after` and `cursor`. */
export interface Batch {
  lane: LaneName;
  after: string;
  events: LiveEvent[];
  cursor: string;
}

/** Everything shown is to be read again; the feed's events follow from this cursor on. */
export interface Rebase {
  lane: LaneName;
  cursor: string;
  isGap: boolean;
  isNewHistory?: boolean;
}
