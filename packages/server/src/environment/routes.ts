import { directRoute, projectRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { deleteAppVariable } from './delete-app-variable.ts';
import { deleteOrganizationVariable } from './delete-organization-variable.ts';
import { getAppVariable } from './get-app-variable.ts';
import { getOrganizationVariable } from './get-organization-variable.ts';
import { listAppVariables } from './list-app-variables.ts';
import { listOrganizationVariables } from './list-organization-variables.ts';
import { setAppVariable } from './set-app-variable.ts';
import { setOrganizationVariable } from './set-organization-variable.ts';

export const routes: Route[] = [
  ...projectRoute('GET', '/apps/:appId/environment', listAppVariables),
  ...projectRoute('GET', '/apps/:appId/environment/:name', getAppVariable),
  ...projectRoute('PUT', '/apps/:appId/environment/:name', setAppVariable),
  ...projectRoute('DELETE', '/apps/:appId/environment/:name', deleteAppVariable),
  directRoute('GET', '/environment', listOrganizationVariables),
  directRoute('GET', '/environment/:name', getOrganizationVariable),
  directRoute('PUT', '/environment/:name', setOrganizationVariable),
  directRoute('DELETE', '/environment/:name', deleteOrganizationVariable),
];
