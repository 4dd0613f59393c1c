import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createAutomation } from './create-automation.ts';
import { getAutomation } from './get-automation.ts';
import { listAutomations } from './list-automations.ts';

export const routes: Route[] = [
  directRoute('POST', '/automations', createAutomation),
  directRoute('GET', '/automations', listAutomations),
  directRoute('GET', '/automations/:automationId', getAutomation),
];
