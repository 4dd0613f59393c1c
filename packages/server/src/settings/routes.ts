import { directRoute, projectRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { getAppSettings } from './get-app-settings.ts';
import { getOrganizationSettings } from './get-organization-settings.ts';
import { listRuntimes } from './list-runtimes.ts';
import { updateAppSettings } from './update-app-settings.ts';
import { updateOrganizationSettings } from './update-organization-settings.ts';

export const routes: Route[] = [
  ...projectRoute('GET', '/apps/:appId/settings', getAppSettings),
  ...projectRoute('PATCH', '/apps/:appId/settings', updateAppSettings),
  directRoute('GET', '/runtimes', listRuntimes),
  directRoute('GET', '/settings', getOrganizationSettings),
  directRoute('PATCH', '/settings', updateOrganizationSettings),
];
