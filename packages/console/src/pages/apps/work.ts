/** How many threads of each app are at work. */
import type { Thread } from '@headrace/client';

export interface Work {
  running: number;
  waiting: number;
  queued: number;
}

export function workByApp(threads: readonly Pick<Thread, 'projectId' | 'status'>[]): Map<string, Work> {
  const work = new Map<string, Work>();
  for (const { projectId, status } of threads) {
    const of = work.get(projectId) ?? { running: 0, waiting: 0, queued: 0 };
    if (status === 'running' || status === 'waiting' || status === 'queued') of[status]++;
    work.set(projectId, of);
  }
  return work;
}
