import { threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { getPolicy } from './get-policy.ts';
import { listHistory } from './list-history.ts';
import { reportActivity } from './report-activity.ts';

export const routes: Route[] = [
  ...threadRoute('POST', '/threads/:threadId/workspace/activity', reportActivity),
  ...threadRoute('GET', '/threads/:threadId/workspace/policy', getPolicy),
  ...threadRoute('GET', '/threads/:threadId/workspace/history', listHistory),
];
