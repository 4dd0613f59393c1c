export { LiveProvider, useDraft, useEvents, useLive, useLiveStatus } from './react.tsx';
export type { Follows } from './follows.ts';
export { startLive } from './start.ts';
export type { Live, LiveState, LiveStatus } from './start.ts';
