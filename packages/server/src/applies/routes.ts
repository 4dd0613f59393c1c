import { platformRoute, projectRoute, threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createApply } from './create-apply.ts';
import { getApply } from './get-apply.ts';
import { listAllAppApplies } from './list-all-app-applies.ts';
import { listApplies } from './list-applies.ts';
import { previewApply } from './preview-apply.ts';
import { previewFile } from './preview-file.ts';

export const routes: Route[] = [
  ...threadRoute('POST', '/threads/:threadId/apply', createApply),
  ...threadRoute('POST', '/threads/:threadId/apply/preview', previewApply),
  ...threadRoute('POST', '/threads/:threadId/apply/preview/file', previewFile),
  ...projectRoute('GET', '/apps/:appId/applies', listApplies),
  ...projectRoute('GET', '/apps/:appId/applies/:applyId', getApply),
  ...platformRoute('GET', '/applies', listAllAppApplies),
];
