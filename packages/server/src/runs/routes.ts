import { threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { getRun } from './get-run.ts';
import { listRuns } from './list-runs.ts';
import { listTools } from './list-tools.ts';
import { retryRun } from './retry-run.ts';
import { stopRun } from './stop-run.ts';

export const routes: Route[] = [
  ...threadRoute('GET', '/threads/:threadId/runs', listRuns),
  ...threadRoute('GET', '/threads/:threadId/runs/:runId', getRun),
  ...threadRoute('GET', '/threads/:threadId/runs/:runId/tools', listTools),
  ...threadRoute('POST', '/threads/:threadId/stop', stopRun),
  ...threadRoute('POST', '/threads/:threadId/retry', retryRun),
];
