import type { Context } from '../context.ts';
import { transaction } from '../db/transaction.ts';
import { mayBegin } from '../http/capabilities.ts';
import type { Job } from '../jobs/job.ts';
import { openInstallations, ProviderError } from '../scm/index.ts';
import { lockTaskById, MAX_TITLE, writeTask } from '../tasks/index.ts';
import { publishTask } from '../threads/index.ts';
import { askLater } from './ask-later.ts';
import { issueOf } from './names.ts';

/** Copies the title of an issue to its task once, if an installation can see the issue and no person has set a title. */
export async function takeIssueTitle(ctx: Context, job: Job<'task.title'>): Promise<void> {
  const row = await ctx.db
    .selectFrom('tasks')
    .select(['id', 'org_id', 'project_id', 'tracker_issue_url'])
    .where('id', '=', job.payload.taskId)
    .where('title_awaits_issue', '=', true)
    .executeTakeFirst();
  if (!row?.tracker_issue_url || !(await mayBegin(ctx, row.org_id, 'sourceControl'))) return;
  try {
    const title = await findTitle(ctx, row.org_id, row.tracker_issue_url);
    if (title !== null) await setTitle(ctx, job, title);
  } catch (error) {
    await askLater(ctx, job, { kind: 'task.title', row }, error);
  }
}

/** Null if no installation can see the issue. Throws if one that might see it is unavailable. */
async function findTitle(ctx: Context, orgId: string, address: string): Promise<string | null> {
  let away: ProviderError | null = null;
  for (const { provider, at } of await openInstallations(ctx, orgId)) {
    const issue = issueOf(address, provider.siteOf(at.installation));
    if (!issue) continue;
    try {
      const found = await provider.getIssue(at, issue);
      if (found) return found.title;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      // A refused credential or an unknown repository means that the issue is not visible.
      if (error.fault.code === 'unavailable') away = error;
    }
  }
  if (away) throw away;
  return null;
}

async function setTitle(ctx: Context, job: Job<'task.title'>, found: string): Promise<void> {
  // A title may be as long as a response: it is cut before its characters are counted.
  const characters = Array.from(found.trim().slice(0, 2 * MAX_TITLE));
  const title = characters.slice(0, MAX_TITLE).join('');
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    const locked = await lockTaskById(tx, job.payload.taskId);
    if (!locked?.task.title_awaits_issue || title === '') return;
    await writeTask(tx, locked.task.id, { title, title_awaits_issue: false });
    if (title !== locked.task.title) await publishTask(tx, locked.scope, locked.task.id);
  });
}
