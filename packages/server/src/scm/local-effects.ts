/** What the writes of pull requests at the built-in provider do outside of a transaction, and how it is found again. */
import { audit } from '../audit/index.ts';
import type { MergeMethod } from '../db/schema.ts';
import type { Effect, Effects } from '../receipts/outside.ts';
import { scmFault } from './faults.ts';
import { shownLocalPull } from './local-pulls.ts';
import type { SeenProjects, ShownLocalPull } from './local-pulls.ts';
import { abandonMerge, mergePull } from './local/merge-pull.ts';
import { createPull, getPull, updatePull } from './local/pull-requests.ts';
import { openRepository } from './open-repository.ts';

interface Opening extends Record<string, unknown> {
  orgId: string;
  repositoryId: string;
  title: string;
  body: string;
  draft: boolean;
  headRef: string;
  baseRef: string | null;
  author: string;
  seen: SeenProjects;
  actorId: string;
  address: string;
}

export const openingLocally: Effect<Opening, ShownLocalPull> = {
  async act(ctx, target, { operationId }) {
    const { at } = await openRepository(ctx, target.repositoryId);
    const row = await createPull(at, {
      ...target,
      baseRef: target.baseRef ?? at.repository.default_branch,
      operationId,
    }).catch((error: unknown) => {
      throw scmFault(error);
    });
    return shownLocalPull(at, row, target.seen);
  },
  async look(ctx, { repositoryId, seen }, { operationId }) {
    const row = await ctx.db
      .selectFrom('local_pull_requests')
      .selectAll()
      .where('repository_id', '=', repositoryId)
      .where('operation_id', '=', operationId)
      .executeTakeFirst();
    return row ? shownLocalPull((await openRepository(ctx, repositoryId)).at, row, seen) : null;
  },
  async record(tx, { orgId, repositoryId, actorId, address }, pullRequest) {
    const by = { principal: { orgId, actorId }, address };
    await audit(tx, by, 'pull_request.created', `${repositoryId}#${pullRequest.number}`);
    return { status: 201, body: { ok: true, pullRequest } };
  },
};

interface Changing extends Record<string, unknown> {
  repositoryId: string;
  number: number;
  seen: SeenProjects;
  change: { title?: string; body?: string; draft?: boolean; baseRef?: string; state?: 'open' | 'closed' };
}

export const changingLocally: Effect<Changing, ShownLocalPull> = {
  async act(ctx, { repositoryId, number, change, seen }) {
    const { at } = await openRepository(ctx, repositoryId);
    const row = await updatePull(at, number, change).catch((error: unknown) => {
      throw scmFault(error);
    });
    return shownLocalPull(at, row, seen);
  },
  async look(ctx, { repositoryId, number, change, seen }) {
    const { at } = await openRepository(ctx, repositoryId);
    const pull = await shownLocalPull(at, await getPull(at, number), seen);
    const isDone = Object.entries(change).every(
      ([name, value]) => pull[name as keyof typeof change] === value,
    );
    return isDone ? pull : null;
  },
  async record(_, __, pullRequest) {
    return { status: 200, body: { ok: true, pullRequest } };
  },
};

interface Merging extends Record<string, unknown> {
  orgId: string;
  repositoryId: string;
  number: number;
  method?: MergeMethod;
  title?: string;
  message?: string;
  expectedHeadSha?: string;
  seen: SeenProjects;
  actorId: string;
  address: string;
}

export const mergingLocally: Effect<Merging, ShownLocalPull> = {
  async act(ctx, { repositoryId, number, method, seen, ...how }) {
    const { at } = await openRepository(ctx, repositoryId);
    const row = await mergePull(at, number, {
      ...how,
      method: method ?? at.repository.merge_methods[0]!,
    }).catch((error: unknown) => {
      throw scmFault(error);
    });
    return shownLocalPull(at, row, seen);
  },
  async look(ctx, { repositoryId, number, seen }) {
    const { at } = await openRepository(ctx, repositoryId);
    const row = await abandonMerge(at, number);
    return row.state === 'merged' ? shownLocalPull(at, row, seen) : null;
  },
  async record(tx, { orgId, repositoryId, number, actorId, address }, pullRequest) {
    await audit(
      tx,
      { principal: { orgId, actorId }, address },
      'pull_request.merged',
      `${repositoryId}#${number}`,
    );
    return { status: 200, body: { ok: true, pullRequest } };
  },
};

/** By the operations that have them. */
export const localPullEffects: Effects = {
  'scm.createPullRequest': openingLocally,
  'scm.updatePullRequest': changingLocally,
  'scm.mergePullRequest': mergingLocally,
};
