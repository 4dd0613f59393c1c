import { projectRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { getArchive } from './get-archive.ts';
import { getDiff } from './get-diff.ts';
import { getFile } from './get-file.ts';
import { getSource } from './get-source.ts';
import { importSource } from './import-source.ts';
import { listFiles } from './list-files.ts';
import { listSources } from './list-sources.ts';
import { searchSource } from './search-source.ts';

export const routes: Route[] = [
  ...projectRoute('POST', '/apps/:appId/sources', importSource),
  ...projectRoute('GET', '/apps/:appId/sources', listSources),
  ...projectRoute('GET', '/apps/:appId/sources/:sourceId', getSource),
  ...projectRoute('GET', '/apps/:appId/sources/:sourceId/files', listFiles),
  ...projectRoute('GET', '/apps/:appId/sources/:sourceId/file', getFile),
  ...projectRoute('GET', '/apps/:appId/sources/:sourceId/archive', getArchive),
  ...projectRoute('GET', '/apps/:appId/sources/:sourceId/diff', getDiff),
  ...projectRoute('GET', '/apps/:appId/sources/:sourceId/search', searchSource),
];
