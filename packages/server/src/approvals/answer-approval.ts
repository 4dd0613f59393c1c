import { sql } from 'kysely';
import Type from 'typebox';
import { ApiError, notFound } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Enum, Ok } from '../http/schemas.ts';
import { scopeOf } from '../projects/index.ts';
import { lockThread } from '../threads/index.ts';
import { commandOf, rememberedKey } from './decide.ts';
import { resolveApprovals } from './resolve.ts';
import { Approval, approvalView } from './schemas.ts';

export const answerApproval = write({
  name: 'approvals.answerApproval',
  summary: 'Approve or deny a tool call',
  description: '`remember` keeps the decision for the same tool and command in this thread.',
  access: { permissions: ['thread:update'] },
  body: Body({ decision: Enum(['approve', 'deny']), remember: Type.Optional(Type.Boolean()) }),
  responses: { 200: Ok({ approval: Approval }) },
  async handle(tx, call) {
    const loaded = await lockThread(tx, call);
    const find = () =>
      tx.db
        .selectFrom('approvals')
        .selectAll()
        .where('thread_id', '=', loaded.thread.id)
        .where('id', '=', call.params.approvalId!)
        .executeTakeFirst();
    const approval = await find();
    if (!approval) throw notFound('approval');
    const allow = call.body.decision === 'approve';
    // Judged by the database's clock, like its expiry.
    const inTime = await tx.db
      .selectFrom('approvals')
      .select('id')
      .where('id', '=', approval.id)
      .where('expires_at', '>', sql<Date>`now()`)
      .executeTakeFirst();
    const resolved = !inTime
      ? 0
      : await resolveApprovals(tx, loaded, approval.run_id, [approval.id], {
          status: allow ? 'approved' : 'denied',
          by: call.principal.actorId,
        });
    if (!resolved)
      throw new ApiError('approval_resolved', 'This approval was resolved before, or its time is over.');
    if (call.body.remember) {
      const tool = await tx.db
        .selectFrom('tools')
        .select(['name', 'input'])
        .where('id', '=', approval.tool_id)
        .executeTakeFirstOrThrow();
      const command = commandOf(tool.input);
      if (command !== null)
        await tx.db
          .insertInto('remembered_decisions')
          .values({
            org_id: approval.org_id,
            thread_id: approval.thread_id,
            tool: tool.name,
            command: rememberedKey(command),
            allow,
          })
          .onConflict((c) => c.columns(['thread_id', 'tool', 'command']).doUpdateSet({ allow }))
          .execute();
    }
    return {
      status: 200,
      body: { ok: true, approval: approvalView((await find())!) },
      scope: scopeOf(loaded.project),
    };
  },
});
