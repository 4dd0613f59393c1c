import type { TaskRequest } from '../protocol.ts';
import { PATH, RUNTIME_PATH } from '../sandbox/driver.ts';

/**
 * PATH of a task's sandbox. A runtime's own begins it, for only its maker knows where its programs are; the
 * usual folders that it leaves out follow. The runner's Node is not in it: a runtime has its own or none.
 */
export function pathOf({ runtime, env = {} }: Pick<TaskRequest, 'runtime' | 'env'>): string {
  if (!runtime) return PATH;
  return [...new Set(`${env['PATH'] ?? ''}:${RUNTIME_PATH}`.split(':'))].filter(Boolean).join(':');
}
