import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { deleteModelKey } from './delete-model-key.ts';
import { listModelKeys } from './list-model-keys.ts';
import { listModels } from './list-models.ts';
import { readUsage } from './read-usage.ts';
import { setModelKey } from './set-model-key.ts';

export const routes: Route[] = [
  directRoute('GET', '/models', listModels),
  directRoute('GET', '/model-keys', listModelKeys),
  directRoute('PUT', '/model-keys/:provider', setModelKey),
  directRoute('DELETE', '/model-keys/:provider', deleteModelKey),
  directRoute('GET', '/usage', readUsage),
];
