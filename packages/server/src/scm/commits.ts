import { isCommitId } from '../git/ref-names.ts';
import { notFound } from '../http/errors.ts';
import type { OpenRepository } from './provider.ts';

/** 404 for what is not the whole id of one of the repository's commits. */
export async function requireCommit({ provider, at }: OpenRepository, sha: string): Promise<void> {
  if (!isCommitId(sha) || (await provider.resolveRef(at, sha)) !== sha) throw notFound('commit');
}
