/** What other domains may use of commits. */
export { buildCommit } from './build-commit.ts';
export { findCache, LEFT_OVER, maintainCaches, openCache } from './cache.ts';
export type { Cache } from './cache.ts';
export { commitMessage } from './commit-message.ts';
export { commitSource, RepositoryTooLarge } from './commit-source.ts';
export { fetchCommit, gitFault } from './fetch-commit.ts';
export { commitsBetween, isAncestor, isBehind, mergeBase } from './history.ts';
export { mergeKeptAside } from './merge-kept-aside.ts';
export type { KeptAsideChange } from './merge-kept-aside.ts';
export { readCommit } from './read-commit.ts';
export { PushError, pushCommit } from './push-commit.ts';
