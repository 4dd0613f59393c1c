import type { Context } from '../context.ts';
import type { PullRequestRow, ThreadRow } from '../db/schema.ts';
import type { Job } from '../jobs/job.ts';
import type { OpenRepository } from '../scm/index.ts';

/** A pull request whose turn it is, with its thread as it was read. */
export interface Syncing {
  ctx: Context;
  job: Pick<Job<'pull-request.sync'>, 'fence' | 'payload' | 'signal'>;
  repository: OpenRepository;
  row: PullRequestRow;
  thread: ThreadRow;
}
