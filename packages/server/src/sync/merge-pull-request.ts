/** Merging a pull request at the provider. */
import { audit } from '../audit/index.ts';
import type { MergeMethod } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import type { WriteResult } from '../http/write-request.ts';
import { enqueueSync, pullRequestView } from '../pull-requests/index.ts';
import type { Effect } from '../receipts/outside.ts';
import { openRepository, ProviderError, scmFault } from '../scm/index.ts';
import type { OpenRepository, ProviderPullRequest } from '../scm/index.ts';
import { lockBoth } from './lock.ts';
import { isMergedByLoop, see } from './see.ts';

export interface Merging extends Record<string, unknown> {
  id: string;
  orgId: string;
  threadId: string;
  repositoryId: string;
  number: number;
  /** Undefined: the first one that the repository allows. */
  method?: MergeMethod;
  title?: string;
  message?: string;
  expectedHeadSha?: string;
  mergedBy: string;
  address: string;
}

interface Merged {
  /** Merged, or open and queued. */
  pull: ProviderPullRequest;
}

export const merging: Effect<Merging, Merged> = {
  async act(ctx, target) {
    const repository = await openRepository(ctx, target.repositoryId);
    return { pull: await merge(repository, target) };
  },

  async look(ctx, { repositoryId, number }) {
    const { provider, at } = await openRepository(ctx, repositoryId);
    const pull = await provider.getPullRequest(at, number);
    return pull.state === 'merged' || pull.mergeQueued ? { pull } : null;
  },

  record,
};

async function merge({ provider, at }: OpenRepository, target: Merging): Promise<ProviderPullRequest> {
  const { number, method, title, message, expectedHeadSha } = target;
  try {
    return await provider.mergePullRequest(at, number, {
      method: method ?? at.repository.merge_methods[0]!,
      ...(title === undefined ? {} : { title }),
      ...(message === undefined ? {} : { message }),
      ...(expectedHeadSha === undefined ? {} : { expectedHeadSha }),
    });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // One that does not answer may have done it.
    if (error.fault.code === 'unavailable') throw error;
    // Its answer to an earlier attempt at it, which the provider's client repeats, may be lost.
    if (error.fault.code === 'not_open') {
      const pull = await provider.getPullRequest(at, number);
      if (pull.state === 'merged') return pull;
    }
    throw scmFault(error);
  }
}

async function record(tx: Tx, target: Merging, { pull }: Merged): Promise<WriteResult> {
  const at = await lockBoth(tx, target);
  const { scm_summary: summary } = at.loaded.row;
  const seen = await see(
    tx,
    at,
    pull,
    summary ? { scm_summary: { ...summary, mergeQueued: pull.mergeQueued } } : {},
  );
  if (pull.state === 'merged') {
    // The audit log already has the entry of a merge by the loop.
    const isTheirs = !isMergedByLoop(at.loaded, pull);
    const by = { principal: { orgId: target.orgId, actorId: target.mergedBy }, address: target.address };
    if (isTheirs) await audit(tx, by, 'pull_request.merged', target.id);
  } else await enqueueSync(tx, seen.row);
  return { status: 200, body: { ok: true, pullRequest: pullRequestView(seen) } };
}
