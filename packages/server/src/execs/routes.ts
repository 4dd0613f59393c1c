import { threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createExec } from './create-exec.ts';

export const routes: Route[] = threadRoute('POST', '/threads/:threadId/exec', createExec);
