import type { Tx } from '../db/transaction.ts';
import { lockPullRequest } from '../pull-requests/index.ts';
import type { LoadedPullRequest } from '../pull-requests/index.ts';
import { lockThreadById } from '../threads/index.ts';
import type { LoadedThread } from '../threads/index.ts';

export interface Locked {
  /** Undefined once it is deleted. */
  thread: LoadedThread | undefined;
  loaded: LoadedPullRequest;
}

/** Locks a pull request of a thread, and the thread before it. */
export async function lockBoth(tx: Tx, { threadId, id }: { threadId: string; id: string }): Promise<Locked> {
  const thread = await lockThreadById(tx, threadId);
  const loaded = await lockPullRequest(tx, id);
  if (!loaded) throw new Error(`there is no pull request ${id}`);
  return { thread, loaded };
}
