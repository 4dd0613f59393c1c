import { directRoute, platformRoute, threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createDirectThread, createThread } from './create-thread.ts';
import { deleteThread } from './delete-thread.ts';
import { exportThread } from './export-thread.ts';
import { forkThread } from './fork-thread.ts';
import { getThread } from './get-thread.ts';
import { listAllAppThreads } from './list-all-app-threads.ts';
import { listAllThreads, listThreads } from './list-threads.ts';
import { updateThread } from './update-thread.ts';

export const routes: Route[] = [
  ...platformRoute('POST', '/apps/:appId/threads', createThread),
  ...platformRoute('GET', '/apps/:appId/threads', listThreads),
  ...platformRoute('GET', '/apps/:appId/threads/:threadId', getThread),
  ...platformRoute('PATCH', '/apps/:appId/threads/:threadId', updateThread),
  ...platformRoute('DELETE', '/apps/:appId/threads/:threadId', deleteThread),
  ...platformRoute('GET', '/threads', listAllAppThreads),
  ...threadRoute('POST', '/threads/:threadId/fork', forkThread),
  directRoute('POST', '/threads', createDirectThread),
  directRoute('GET', '/threads', listAllThreads),
  directRoute('GET', '/threads/:threadId', getThread, 'further'),
  directRoute('PATCH', '/threads/:threadId', updateThread, 'further'),
  directRoute('DELETE', '/threads/:threadId', deleteThread, 'further'),
  directRoute('GET', '/threads/:threadId/export', exportThread),
];
