import { platformRoute, projectRoute, threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { cancelBuild } from './cancel-build.ts';
import { createAppBuild } from './create-app-build.ts';
import { createBuild } from './create-build.ts';
import { getArtifact } from './get-artifact.ts';
import { getBuild } from './get-build.ts';
import { getLogs } from './get-logs.ts';
import { getManifest } from './get-manifest.ts';
import { listAllAppBuilds } from './list-all-app-builds.ts';
import { listAppBuilds } from './list-app-builds.ts';
import { listBuilds } from './list-builds.ts';

export const routes: Route[] = [
  ...threadRoute('POST', '/threads/:threadId/builds', createBuild),
  ...threadRoute('GET', '/threads/:threadId/builds', listBuilds),
  ...projectRoute('POST', '/apps/:appId/builds', createAppBuild),
  ...projectRoute('GET', '/apps/:appId/builds', listAppBuilds),
  ...projectRoute('GET', '/apps/:appId/builds/:buildId', getBuild),
  ...projectRoute('GET', '/apps/:appId/builds/:buildId/artifact', getArtifact),
  ...projectRoute('GET', '/apps/:appId/builds/:buildId/manifest', getManifest),
  ...projectRoute('GET', '/apps/:appId/builds/:buildId/logs', getLogs),
  ...projectRoute('POST', '/apps/:appId/builds/:buildId/cancel', cancelBuild),
  ...platformRoute('GET', '/builds', listAllAppBuilds),
];
