import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { getHealth } from './get-health.ts';
import { getReadiness } from './get-readiness.ts';

export const routes: Route[] = [
  { ...directRoute('GET', '', getHealth), path: '/health' },
  { ...directRoute('GET', '', getReadiness), path: '/health/ready' },
];
