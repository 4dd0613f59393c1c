import type { Context } from '../context.ts';
import { clean } from '../db/clean-text.ts';
import type { ProjectRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { runGit } from '../git/run-git.ts';
import { lockProject } from '../projects/index.ts';
import type { OpenRepository } from '../scm/index.ts';
import { abandonCommit, findCommitSource, insertCommit, stageCommit } from '../sources/index.ts';
import type { SourceRow, StagedCommit } from '../sources/index.ts';
import { openCache } from './cache.ts';
import { fetchCommit } from './fetch-commit.ts';
import { inTurn } from './turns.ts';

/** The commit has more files or bytes than a source may hold. */
export class RepositoryTooLarge extends Error {
  override readonly name = 'RepositoryTooLarge';
}

interface Wanted {
  commitSha: string;
  /** The name under which it was found. */
  branch: string | null;
  /** Happens in the transaction that stores the source, or in one of its own where that is stored. */
  also?: (tx: Tx, project: ProjectRow, source: SourceRow) => Promise<void>;
}

/**
 * The source of a commit, which a project stores once: a commit that it does not have is fetched, and only
 * contents that are new to it are read. Publishes `platform.source.imported` for a new one. Throws
 * ProviderError, RepositoryTooLarge, and 404 `project_not_found` where the project was deleted meanwhile.
 */
export async function commitSource(
  ctx: Context,
  project: Pick<ProjectRow, 'org_id' | 'id'>,
  repository: OpenRepository,
  { commitSha, branch, also }: Wanted,
): Promise<SourceRow> {
  return inTurn(`${project.id} ${commitSha}`, async () => {
    const isStored = (await findCommitSource(ctx.db, project.id, commitSha)) !== undefined;
    const fresh = isStored ? null : await stage(ctx, project, repository, commitSha);
    let isTaken = isStored;
    try {
      return await transaction(ctx, async (tx) => {
        const locked = await lockProject(tx, project.id);
        // Another process may have been faster.
        const found = await findCommitSource(tx.db, project.id, commitSha);
        const source =
          found ?? (await insertCommit(tx, locked, fresh!.staged, { branch, message: fresh!.subject }));
        await also?.(tx, locked, source);
        tx.afterCommit.push(() => {
          isTaken ||= !found;
        });
        return source;
      });
    } finally {
      if (!isTaken) await abandonCommit(ctx, project, fresh!.staged);
    }
  });
}

async function stage(
  ctx: Context,
  project: Pick<ProjectRow, 'org_id' | 'id'>,
  repository: OpenRepository,
  commitSha: string,
): Promise<{ staged: StagedCommit; subject: string }> {
  await fetchCommit(ctx, repository, { commitSha });
  const { dir } = await openCache(ctx, repository);
  const limits = ctx.config.repositoryLimits;
  const staged = await stageCommit(ctx, project, { gitDir: dir, commitSha, limits });
  if (!staged.ok) throw new RepositoryTooLarge(staged.rule);
  return { staged, subject: await subjectOf(dir, commitSha) };
}

/** The longest that is stored of a subject, which may be a megabyte. */
const MAX_SUBJECT = 1_000;

async function subjectOf(gitDir: string, commitSha: string): Promise<string> {
  const format = `--format=%<(${MAX_SUBJECT},trunc)%s`;
  const { output } = await runGit(gitDir, [
    'log',
    '-1',
    '--no-show-signature',
    '--encoding=UTF-8',
    format,
    commitSha,
  ]);
  return clean(output.toString('utf8').trim());
}
