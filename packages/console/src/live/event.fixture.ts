/** An event as the service sends it. */
import type { HeadraceEvent } from '@headrace/client';

export const eventOf = (n: number, rest: Partial<HeadraceEvent> = {}): HeadraceEvent => ({
  id: `evt_${n}`,
  type: 'run.running',
  sequence: String(n),
  orgId: 'org_1',
  appId: 'prj_1',
  projectId: 'prj_1',
  threadId: 'thr_1',
  runId: 'run_1',
  data: { id: 'run_1', status: 'running' },
  occurredAt: '2026-01-01T00:00:01.000Z',
  publishedAt: '2026-01-01T00:00:01.000Z',
  cursor: `c${n}`,
  ...rest,
});
