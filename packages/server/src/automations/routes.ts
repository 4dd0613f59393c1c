import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createAutomation } from './create-automation.ts';
import { deleteAutomation } from './delete-automation.ts';
import { getAutomation } from './get-automation.ts';
import { getExecution } from './get-execution.ts';
import { listAutomations } from './list-automations.ts';
import { listExecutions } from './list-executions.ts';
import { previewSchedule } from './preview-schedule.ts';
import { receiveHook } from './receive-hook.ts';
import { rotateSecret } from './rotate-secret.ts';
import { runAutomation } from './run-automation.ts';
import { updateAutomation } from './update-automation.ts';

export const routes: Route[] = [
  directRoute('POST', '/automations', createAutomation),
  directRoute('GET', '/automations', listAutomations),
  directRoute('GET', '/automations/schedule', previewSchedule),
  directRoute('GET', '/automations/:automationId', getAutomation),
  directRoute('PATCH', '/automations/:automationId', updateAutomation),
  directRoute('DELETE', '/automations/:automationId', deleteAutomation),
  directRoute('POST', '/automations/:automationId/secret', rotateSecret),
  directRoute('POST', '/automations/:automationId/run', runAutomation),
  directRoute('GET', '/automations/:automationId/executions', listExecutions),
  directRoute('GET', '/automations/:automationId/executions/:executionId', getExecution),
  directRoute('POST', '/hooks/automations/:automationId', receiveHook),
];
