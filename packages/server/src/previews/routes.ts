import { platformRoute, projectRoute, threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createAppPreview } from './create-app-preview.ts';
import { createPreview } from './create-preview.ts';
import { deletePreview } from './delete-preview.ts';
import { getPreview } from './get-preview.ts';
import { listAllAppPreviews } from './list-all-app-previews.ts';
import { listAppPreviews } from './list-app-previews.ts';
import { listPreviews } from './list-previews.ts';

export const routes: Route[] = [
  ...threadRoute('POST', '/threads/:threadId/previews', createPreview),
  ...threadRoute('GET', '/threads/:threadId/previews', listPreviews),
  ...projectRoute('POST', '/apps/:appId/previews', createAppPreview),
  ...projectRoute('GET', '/apps/:appId/previews', listAppPreviews),
  ...projectRoute('GET', '/apps/:appId/previews/:previewId', getPreview),
  ...projectRoute('DELETE', '/apps/:appId/previews/:previewId', deletePreview),
  ...platformRoute('GET', '/previews', listAllAppPreviews),
];
