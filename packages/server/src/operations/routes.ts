import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { getOperation } from './get-operation.ts';

export const routes: Route[] = [directRoute('GET', '/operations/:operationId', getOperation)];
