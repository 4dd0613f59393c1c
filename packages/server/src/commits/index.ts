/** What other domains may use of commits. */
export { inTurn, maintainCaches, openCache } from './cache.ts';
export type { Cache } from './cache.ts';
export { fetchCommit, gitFault } from './fetch-commit.ts';
