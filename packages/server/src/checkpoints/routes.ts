import { threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { listCheckpoints } from './list-checkpoints.ts';
import { restoreCheckpoint } from './restore-checkpoint.ts';
import { restoreSource } from './restore-source.ts';

export const routes: Route[] = [
  ...threadRoute('GET', '/threads/:threadId/checkpoints', listCheckpoints),
  ...threadRoute('POST', '/threads/:threadId/checkpoints/:checkpointId/restore', restoreCheckpoint),
  ...threadRoute('POST', '/threads/:threadId/restore', restoreSource),
];
