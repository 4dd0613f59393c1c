import type { Tx } from '../db/transaction.ts';
import { changePullRequest } from './change-pull-request.ts';
import { loopAfter } from './loop-state.ts';
import { lockPullRequest } from './store.ts';

/** Ends the review loops of an installation's repositories, which cannot be asked any more. */
export async function endLoopsOf(tx: Tx, installationId: string): Promise<void> {
  const rows = await tx.db
    .selectFrom('pull_requests as p')
    .innerJoin('review_loops as l', 'l.pull_request_id', 'p.id')
    .innerJoin('repositories as r', 'r.id', 'p.repository_id')
    .select('p.id')
    .where('r.installation_id', '=', installationId)
    .where('l.enabled', '=', true)
    .orderBy('p.id')
    .execute();
  for (const { id } of rows) {
    const loaded = (await lockPullRequest(tx, id))!;
    await changePullRequest(tx, loaded, {}, loopAfter(loaded.loop?.status ?? null, 'end'));
  }
}
