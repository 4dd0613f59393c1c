import { platformRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { getArchive } from './get-archive.ts';
import { getDiff } from './get-diff.ts';
import { getFile } from './get-file.ts';
import { getSource } from './get-source.ts';
import { importSource } from './import-source.ts';
import { listFiles } from './list-files.ts';
import { listSources } from './list-sources.ts';

export const routes: Route[] = [
  ...platformRoute('POST', '/apps/:appId/sources', importSource),
  ...platformRoute('GET', '/apps/:appId/sources', listSources),
  ...platformRoute('GET', '/apps/:appId/sources/:sourceId', getSource),
  ...platformRoute('GET', '/apps/:appId/sources/:sourceId/files', listFiles),
  ...platformRoute('GET', '/apps/:appId/sources/:sourceId/file', getFile),
  ...platformRoute('GET', '/apps/:appId/sources/:sourceId/archive', getArchive),
  ...platformRoute('GET', '/apps/:appId/sources/:sourceId/diff', getDiff),
];
