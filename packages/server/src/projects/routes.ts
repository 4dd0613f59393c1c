import { directRoute, platformRoute, projectRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createApp } from './create-app.ts';
import { createProject } from './create-project.ts';
import { deleteApp, deleteProject } from './delete-project.ts';
import { getApp } from './get-app.ts';
import { getHead } from './get-head.ts';
import { getProject } from './get-project.ts';
import { initializeHead } from './initialize-head.ts';
import { listApps } from './list-apps.ts';
import { listHeadHistory } from './list-head-history.ts';
import { listProjects } from './list-projects.ts';
import { updateApp } from './update-app.ts';
import { updateProject } from './update-project.ts';

export const routes: Route[] = [
  ...platformRoute('POST', '/apps', createApp),
  ...platformRoute('GET', '/apps', listApps),
  ...platformRoute('GET', '/apps/:appId', getApp),
  ...platformRoute('PATCH', '/apps/:appId', updateApp),
  ...platformRoute('DELETE', '/apps/:appId', deleteApp),
  ...projectRoute('POST', '/apps/:appId/source-head/initialize', initializeHead),
  ...projectRoute('GET', '/apps/:appId/source-head', getHead),
  ...projectRoute('GET', '/apps/:appId/source-head/history', listHeadHistory),
  directRoute('POST', '/projects', createProject),
  directRoute('GET', '/projects', listProjects),
  directRoute('GET', '/projects/:projectId', getProject),
  directRoute('PATCH', '/projects/:projectId', updateProject),
  directRoute('DELETE', '/projects/:projectId', deleteProject),
];
