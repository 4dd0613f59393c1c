import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Enum, Id, ListQuery, Nullable, Page, Text, Time } from '../http/schemas.ts';
import { loadThread, WORKSPACE_STATUSES } from '../threads/index.ts';

const Status = Enum(WORKSPACE_STATUSES);
const WorkspaceRecord = Type.Object({
  id: Id('wsr'),
  runId: Nullable(Id('run')),
  from: Nullable(Status),
  to: Status,
  reason: Text('initialization'),
  sourceId: Nullable(Id('src', 'What was restored or saved.')),
  createdAt: Time,
});

export const listHistory = read({
  name: 'workspaces.listHistory',
  summary: "List the changes of a thread's workspace, newest first",
  access: { permissions: ['thread:read'] },
  query: ListQuery(),
  responses: { 200: Page('records', WorkspaceRecord) },
  async handle(call) {
    const { ctx, query } = call;
    const { thread } = await loadThread(ctx.db, call);
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['workspace history', thread.id] },
      (after, limit) => {
        const list = ctx.db
          .selectFrom('workspace_records')
          .selectAll()
          .where('thread_id', '=', thread.id)
          .orderBy('id', 'desc')
          .limit(limit);
        return (after === null ? list : list.where('id', '<', after)).execute();
      },
      (r) => r.id,
    );
    const records = rows.map((r) => ({
      id: r.id,
      runId: r.run_id,
      from: r.from_status,
      to: r.to_status,
      reason: r.reason,
      sourceId: r.source_id,
      createdAt: r.created_at.toISOString(),
    }));
    return { status: 200, body: { ok: true, records, ...rest } };
  },
});
