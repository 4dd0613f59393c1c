import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { invalid } from '../http/errors.ts';
import { Moment, momentOf } from '../http/moment.ts';
import { read } from '../http/operation.ts';
import { GROUPS, sumRuns } from './sum-runs.ts';
import { Counter, Enum, Id, ListQuery, Micros, Nullable, Page, Text } from '../http/schemas.ts';

const DEFAULT_DAYS = 30;
const Usage = Type.Object({
  day: Nullable(Text('2026-01-31', { description: 'A UTC day, where grouped by it.' })),
  projectId: Nullable(Id('prj')),
  threadId: Nullable(Id('thr')),
  modelId: Nullable(Text('scripted')),
  runs: Counter,
  inputTokens: Counter,
  outputTokens: Counter,
  cachedTokens: Counter,
  costMicros: Micros,
});

export const readUsage = read({
  name: 'usage.readUsage',
  summary: 'Sum tokens and costs of runs',
  description:
    'Sums the runs that began at or after `from` (default: 30 days before `to`) and before `to` (default: now), newest group first. A key that is restricted to projects sums only those.',
  access: { permissions: ['usage:read'] },
  query: ListQuery({
    from: Type.Optional(Moment('From this time or UTC day on.')),
    to: Type.Optional(Moment('Until before this time or UTC day.')),
    groupBy: Type.Optional(
      Enum(['day', 'project', 'thread', 'model'] as const, { description: 'Default `day`.' }),
    ),
  }),
  responses: { 200: Page('usage', Usage) },
  async handle({ ctx, principal, query }) {
    const to = momentOf(query.to, Date.now(), '/query/to');
    const from = momentOf(query.from, to - DEFAULT_DAYS * 86_400_000, '/query/from');
    if (from > to) throw invalid({ path: '/query/from', message: 'must not be after `to`' });
    const groupBy = query.groupBy ?? 'day';
    const asked = {
      orgId: principal.orgId,
      projectIds: principal.projectIds,
      from: new Date(from),
      to: new Date(to),
      groupBy,
    };
    const scope = ['usage', principal.orgId, groupBy, query.from ?? null, query.to ?? null];
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope },
      (after, limit) => sumRuns(ctx.db, asked, after, limit),
      (row) => row[GROUPS[groupBy].field]!,
    );
    return { status: 200, body: { ok: true, usage: rows, ...rest } };
  },
});
