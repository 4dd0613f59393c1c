import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Enum, Id, ListQuery, Nullable, Page, Text, Time } from '../http/schemas.ts';
import { explain } from './explain-stuck.ts';
import { findStuck } from './find-stuck.ts';

const DEFAULT_SECONDS = 300;

const Stuck = Type.Object({
  kind: Enum(['run', 'apply', 'build', 'initialization', 'delivery', 'operation', 'cleanup'] as const),
  id: Text('run_01k9x3v5e8f7arh2m4t6w8y0zb', {
    description:
      'The run, apply, build or operation; of an initialization its thread; of a cleanup the thread whose workspace, or the project or organization whose objects, cannot be removed.',
  }),
  orgId: Nullable(Id('org')),
  projectId: Nullable(Id('prj')),
  threadId: Nullable(Id('thr')),
  since: Time,
  reason: Text('No worker is alive to begin it.'),
  remedy: Text('Start a process with the roles worker and runner.'),
});

export const listStuck = read({
  name: 'system.listStuck',
  summary: 'List what has not moved though it should',
  description:
    'Oldest first. What works, waits for an answer, or waits for what works is not stuck. Requires an owner or admin of the first organization.',
  access: { session: 'admin', operator: true },
  query: ListQuery({
    seconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 86_400,
        default: DEFAULT_SECONDS,
        description: 'For how long it has not moved.',
      }),
    ),
  }),
  responses: { 200: Page('stuck', Stuck) },
  async handle({ ctx, query }) {
    const seconds = query.seconds ?? DEFAULT_SECONDS;
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['stuck', seconds] },
      (after, limit) => findStuck(ctx, { seconds, after, limit }),
      (row) => row.sort_key,
    );
    const stuck = rows.map((row) => ({
      kind: row.kind,
      id: row.id,
      orgId: row.org_id,
      projectId: row.project_id,
      threadId: row.thread_id,
      since: row.since.toISOString(),
      ...explain(row),
    }));
    return { status: 200, body: { ok: true, stuck, ...rest } };
  },
});
