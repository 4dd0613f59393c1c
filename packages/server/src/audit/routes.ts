import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { listEntries } from './list-entries.ts';

export const routes: Route[] = [directRoute('GET', '/audit', listEntries)];
