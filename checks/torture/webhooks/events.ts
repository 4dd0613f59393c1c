/** The events: of the Direct feed, and of apps, which no receiver gets. */
import { newId } from '../../../packages/server/src/ids.ts';
import type { Random } from '../../harness/random.ts';

const TYPES = [
  'thread.updated',
  'run.running',
  'run.completed',
  'run.failed',
  'message.persisted',
  'tool.updated',
  'approval.requested',
  'checkpoint.created',
  'preview.updated',
  'pull_request.updated',
  'operation.updated',
  'platform.build.ready',
  'platform.apply.applied',
  'platform.head.updated',
];
const OF_APPS = 0.1;
/** Events of the first project: few, for slow receivers. */
const QUIET = 0.02;

export function drawEvent(random: Random, orgId: string, projects: readonly string[]) {
  const [quiet, ...busy] = projects;
  const type = random.pick(TYPES);
  return {
    at: {
      orgId,
      projectId: random.next() < QUIET ? quiet! : random.pick(busy),
      feed: random.next() < OF_APPS ? ('platform' as const) : ('direct' as const),
      threadId: /^(thread|message|run|tool)/.test(type) ? newId('thr') : null,
      runId: /^(run|tool)/.test(type) ? newId('run') : null,
    },
    type,
    data: { id: newId('run'), status: 'drawn' },
  };
}
