import { threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createEdit } from './create-edit.ts';

export const routes: Route[] = threadRoute('POST', '/threads/:threadId/edits', createEdit);
