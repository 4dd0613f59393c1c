export { followThread } from './follow.ts';
export type { FollowItem, FollowOptions } from './follow.ts';
export type { HistoryItem } from './history.ts';
export type { ThreadAddress } from './reads.ts';
