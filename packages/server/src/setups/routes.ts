import { projectRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createSetup } from './create-setup.ts';
import { getLogs } from './get-logs.ts';
import { getSetup } from './get-setup.ts';
import { listSetups } from './list-setups.ts';

export const routes: Route[] = [
  ...projectRoute('GET', '/apps/:appId/setups', listSetups),
  ...projectRoute('POST', '/apps/:appId/setups', createSetup),
  ...projectRoute('GET', '/apps/:appId/setups/:setupId', getSetup),
  ...projectRoute('GET', '/apps/:appId/setups/:setupId/logs', getLogs),
];
