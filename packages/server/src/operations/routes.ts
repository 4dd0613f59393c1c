import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { getOperation } from './get-operation.ts';
import { listOperations } from './list-operations.ts';

export const routes: Route[] = [
  directRoute('GET', '/operations', listOperations),
  directRoute('GET', '/operations/:operationId', getOperation),
];
