/** Records of pull requests for tests that need no repository behind them. */
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import type { TestServer } from '../service.fixture.ts';
import { recordPullRequest } from './change-pull-request.ts';
import type { LoopChange } from './loop-state.ts';

/** A thread of a new project. */
export async function newThread(s: TestServer): Promise<string> {
  const { project } = (await s.call('POST', '/api/projects', { name: 'n' })).body;
  return (await s.call('POST', '/api/threads', { projectId: project.id, title: 't' })).body.thread.id;
}

/** A recorded pull request of a thread, whose project is bound to its repository from then on. */
export async function record(
  ctx: Context,
  threadId: string,
  fields: Partial<Parameters<typeof recordPullRequest>[1]> = {},
  loop: LoopChange | null = null,
): Promise<string> {
  const thread = await ctx.db
    .selectFrom('threads')
    .selectAll()
    .where('id', '=', threadId)
    .executeTakeFirstOrThrow();
  const { id: installation } = await ctx.db
    .selectFrom('installations')
    .select('id')
    .where('org_id', '=', thread.org_id)
    .executeTakeFirstOrThrow();
  const name = randomUUID();
  const repository = newId('repo');
  await ctx.db
    .insertInto('repositories')
    .values({
      org_id: thread.org_id,
      id: repository,
      installation_id: installation,
      provider: 'local',
      external_id: repository,
      full_name: name,
      name,
      default_branch: 'main',
    })
    .execute();
  await ctx.db
    .updateTable('projects')
    .set({ repository_id: repository })
    .where('id', '=', thread.project_id)
    .execute();
  const { row } = await transaction(ctx, (tx) =>
    recordPullRequest(
      tx,
      {
        org_id: thread.org_id,
        id: newId('pr'),
        project_id: thread.project_id,
        thread_id: threadId,
        repository_id: repository,
        number: 7,
        url: 'http://x/7',
        repo_full_name: name,
        title: 'One',
        body: 'Words.',
        state: 'open',
        head_ref: 'headrace/one',
        head_sha: '1'.repeat(40),
        base_ref: 'main',
        created_by: 'sa_1',
        ...fields,
      },
      loop,
    ),
  );
  return row.id;
}
