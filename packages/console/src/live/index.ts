/** The live store: keeps cached queries as the service has them, by its feeds of events. */
import { browser } from './browser.ts';
import { Session } from './session.ts';
import type { Live, LiveOptions } from './live.ts';

export { LiveProvider, useDraft, useEvents, useLive, useLiveStatus } from './react.tsx';
export type { Follows } from './follows.ts';
export { feedOf, laneOf } from './lanes.ts';
export type { LaneName, LiveEvent, LiveThread } from './lanes.ts';
export type { Live, LiveOptions } from './live.ts';
export type { LiveState, LiveStatus } from './state.ts';

/** Starts the store for a signed-in user; end it on sign-out, and before it is started for another organization. */
export const startLive = (options: LiveOptions): Live => new Session(options, browser);
