import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { getSystem } from './get-system.ts';
import { listStuck } from './list-stuck.ts';

export const routes: Route[] = [
  directRoute('GET', '/system', getSystem),
  directRoute('GET', '/system/stuck', listStuck),
];
