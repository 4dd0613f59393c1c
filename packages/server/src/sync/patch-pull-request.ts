/** Changing a pull request at the provider, and here what only the service knows. */
import type { Tx } from '../db/transaction.ts';
import { notFound } from '../http/errors.ts';
import type { WriteResult } from '../http/write-request.ts';
import { changePullRequest, enqueueSync, pullRequestView, pushAfter } from '../pull-requests/index.ts';
import type { LoadedPullRequest, PullRequestChange } from '../pull-requests/index.ts';
import type { Effect } from '../receipts/outside.ts';
import { openRepository, ProviderError, scmFault } from '../scm/index.ts';
import type { OpenRepository, ProviderPullRequest } from '../scm/index.ts';
import { lockBoth } from './lock.ts';
import { see } from './see.ts';

interface Fields {
  title?: string;
  body?: string;
  draft?: boolean;
  baseRef?: string;
  state?: 'open' | 'closed';
}

export interface Patching extends Record<string, unknown> {
  id: string;
  threadId: string;
  repositoryId: string;
  number: number;
  /** At the provider. */
  fields: Fields;
  autoPush: boolean | null;
}

/** The pull request after the change; null if nothing changes at the provider. */
type Patched = { pull: ProviderPullRequest | null };

/** The fields that do not have their requested values yet. */
function missing(pull: ProviderPullRequest, fields: Fields): Fields {
  const wanted = Object.entries(fields) as [keyof Fields, never][];
  return Object.fromEntries(wanted.filter(([name, value]) => pull[name] !== value));
}
const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0;

export const patching: Effect<Patching, Patched> = {
  async act(ctx, target) {
    if (isEmpty(target.fields)) return { pull: null };
    const repository = await openRepository(ctx, target.repositoryId);
    return { pull: await patch(repository, target) };
  },

  async look(ctx, { repositoryId, number, fields }) {
    if (isEmpty(fields)) return { pull: null };
    const { provider, at } = await openRepository(ctx, repositoryId);
    const pull = await provider.getPullRequest(at, number);
    return isEmpty(missing(pull, fields)) ? { pull } : null;
  },

  record,
};

async function patch(
  { provider, at }: OpenRepository,
  { number, fields }: Patching,
): Promise<ProviderPullRequest> {
  const pull = await provider.getPullRequest(at, number).catch(refused);
  const change = missing(pull, fields);
  if (isEmpty(change)) return pull;
  if (change.baseRef !== undefined && (await provider.resolveRef(at, change.baseRef).catch(refused)) === null)
    throw notFound('branch');
  return provider.updatePullRequest(at, number, change).catch((error: unknown) => {
    // One that does not answer may have done it.
    if (error instanceof ProviderError && error.fault.code === 'unavailable') throw error;
    return refused(error);
  });
}

function refused(error: unknown): never {
  throw scmFault(error);
}

/** Switching pushes off cancels a pending push. A loop that was enabled in the meantime keeps pushes on. */
function autoPushChange(
  { row: { push_status: status }, loop }: LoadedPullRequest,
  autoPush: boolean | null,
): PullRequestChange {
  if (autoPush === null || (!autoPush && loop?.enabled)) return {};
  return autoPush
    ? { auto_push: true }
    : { auto_push: false, push_status: pushAfter(status, 'leave'), push_retry_at: null };
}

async function record(tx: Tx, target: Patching, { pull }: Patched): Promise<WriteResult> {
  const at = await lockBoth(tx, target);
  const change = autoPushChange(at.loaded, target.autoPush);
  const changed = pull ? await see(tx, at, pull, change) : await changePullRequest(tx, at.loaded, change);
  const isResumed = at.loaded.row.state !== 'open' && changed.row.state === 'open';
  if (isResumed || target.autoPush === true) await enqueueSync(tx, changed.row);
  return { status: 200, body: { ok: true, pullRequest: pullRequestView(changed) } };
}
