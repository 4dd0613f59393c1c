import type { Context } from '../context.ts';
import { buildGitCommit } from '../git/build-commit.ts';
import type { GitChange } from '../git/build-commit.ts';
import type { OpenRepository } from '../scm/index.ts';
import { streamBlobs } from '../sources/index.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Tree } from '../trees/tree.ts';
import { openCache } from './cache.ts';
import type { KeptAsideChange } from './merge-kept-aside.ts';

type Building = Pick<Context, 'config' | 'db' | 'store' | 'shutdown'>;

interface NewCommit {
  projectId: string;
  /** The first one's tree is changed; the cache has them. */
  parents: string[];
  /** The files of the first parent's source. */
  from: Tree;
  /** The files that the commit shall have. */
  to: Tree;
  /** Of the other parents, what is in no source. */
  keptAside?: readonly KeptAsideChange[];
  message: string;
  authoredAt: Date;
}

/**
 * Makes a commit in the repository's cache and gives its id, the same for equal arguments. It has the first
 * parent's tree with the difference of `from` and `to`: entries that no source can hold stay as they are,
 * unless `to` has a file at, above or below their path. Throws 503 `source_storage_unavailable`.
 */
export async function buildCommit(
  ctx: Context,
  repository: OpenRepository,
  commit: NewCommit,
): Promise<string> {
  const { dir } = await openCache(ctx, repository);
  const { parents, from, to, message, authoredAt, keptAside = [] } = commit;
  const files = filesOf(from, to);
  const { commit: settings } = ctx.config.scm;
  return buildGitCommit(
    dir,
    {
      parents,
      // Removals first: a folder may become a file. Files last: what is kept aside gives way to them.
      changes: [
        ...files.removed,
        ...keptAside.map(({ path, entry }): GitChange => [path, entry]),
        ...files.written,
      ],
      contents: contentsOf(ctx, commit.projectId, files.contents),
      message,
      person: (await repository.provider.commitAuthor(repository.at)) ?? settings,
      date: authoredAt,
      signingKey: settings.signingKey,
    },
    ctx.shutdown,
  );
}

function filesOf(
  from: Tree,
  to: Tree,
): { removed: GitChange[]; written: GitChange[]; contents: Set<string> } {
  const removed: GitChange[] = [],
    written: GitChange[] = [],
    contents = new Set<string>();
  for (const path of from.keys()) if (!to.has(path)) removed.push([Buffer.from(path), null]);
  for (const [path, entry] of to) {
    if (sameEntry(from.get(path), entry)) continue;
    contents.add(entry.sha256);
    written.push([
      Buffer.from(path),
      { mode: entry.executable ? '100755' : '100644', content: entry.sha256 },
    ]);
  }
  return { removed, written, contents };
}

async function* contentsOf(ctx: Building, projectId: string, sha256s: Set<string>) {
  for await (const { sha256, bytes } of streamBlobs(ctx, projectId, sha256s)) yield { key: sha256, bytes };
}
