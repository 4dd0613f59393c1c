/**
 * The commit that files of a project with a repository lie on: the workspace shows its history, and has the
 * links that no source holds.
 */
import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import type { PullRequestRow } from '../db/schema.ts';
import { loadTree } from '../sources/index.ts';
import { sameEntry } from '../trees/tree.ts';
import type { Tree } from '../trees/tree.ts';
import type { Links } from './history/inner-links.ts';
import { linksBeside } from './history/inner-links.ts';
import { repositoryLinks } from './history/repository-cache.ts';

export interface Ground {
  projectId: string;
  repositoryId: string;
  /** The newest commit of the thread's pull request, else the one that it began from. */
  headSha: string;
  baseSha: string;
  baseBranch: string | null;
  /** A source with the files of `headSha`; null where the project has none. */
  sourceId: string | null;
}

/** How the runner keeps the files of a source. */
export interface Layout {
  sourceId: string;
  key: string;
  /** The commit whose links belong to the files; null where there is none. */
  linksOf: string | null;
}

/** Null in a project without a repository, and before anything was fetched. */
export async function groundOf(ctx: Context, threadId: string): Promise<Ground | null> {
  const thread = await ctx.db
    .selectFrom('threads')
    .innerJoin('projects', 'projects.id', 'threads.project_id')
    .select(['threads.project_id', 'base_commit_sha', 'base_branch', 'projects.repository_id'])
    .where('threads.id', '=', threadId)
    .executeTakeFirst();
  if (!thread) return null;
  const { project_id: projectId, repository_id: repositoryId, base_commit_sha: baseSha } = thread;
  if (repositoryId === null || baseSha === null) return null;
  const pull = await primaryPullRequest(ctx, threadId);
  const headSha = pull?.head_sha ?? baseSha;
  const sourceId = (await sourceOfCommit(ctx, projectId, headSha)) ?? pull?.head_source_id ?? null;
  return { projectId, repositoryId, headSha, baseSha, baseBranch: thread.base_branch, sourceId };
}

/** The ground of a source by itself, for builds and previews. */
export async function groundOfSource(ctx: Context, sourceId: string): Promise<Ground | null> {
  const source = await ctx.db
    .selectFrom('sources')
    .innerJoin('projects', 'projects.id', 'sources.project_id')
    .select(['sources.project_id', 'thread_id', 'commit_sha', 'commit_branch', 'projects.repository_id'])
    .where('sources.id', '=', sourceId)
    .executeTakeFirstOrThrow();
  const { project_id: projectId, repository_id: repositoryId, commit_sha: sha } = source;
  if (repositoryId === null) return null;
  if (sha === null) return source.thread_id === null ? null : groundOf(ctx, source.thread_id);
  return { projectId, repositoryId, headSha: sha, baseSha: sha, baseBranch: source.commit_branch, sourceId };
}

/** The open one that is the thread's own, else an open one, else the newest. */
async function primaryPullRequest(
  ctx: Context,
  threadId: string,
): Promise<Pick<PullRequestRow, 'head_sha' | 'head_source_id'> | undefined> {
  return ctx.db
    .selectFrom('pull_requests')
    .select(['head_sha', 'head_source_id'])
    .where('thread_id', '=', threadId)
    .orderBy((eb) => eb.and([eb('state', '=', 'open'), eb('transferred_at', 'is', null)]), 'desc')
    .orderBy((eb) => eb('state', '=', 'open'), 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

async function sourceOfCommit(ctx: Context, projectId: string, sha: string): Promise<string | null> {
  const source = await ctx.db
    .selectFrom('sources')
    .select('id')
    .where('project_id', '=', projectId)
    .where('commit_sha', '=', sha)
    .executeTakeFirst();
  return source?.id ?? null;
}

/**
 * The names under which the runner keeps sources upon a ground. Files of its own commit have the time 0, by
 * which git knows them as unchanged, all others a later one: so a source upon another commit is another tree.
 */
export async function layoutsOf(ctx: Context, ground: Ground | null, ids: string[]): Promise<Layout[]> {
  if (!ground) return ids.map((sourceId) => ({ sourceId, key: sourceId, linksOf: null }));
  const rows = await ctx.db
    .selectFrom('sources')
    .select(['id', 'commit_sha'])
    .where('id', 'in', ids)
    .where('project_id', '=', ground.projectId)
    .execute();
  return rows.map(({ id, commit_sha: sha }) => ({
    sourceId: id,
    key: sha === ground.headSha ? id : `${id}-${ground.headSha}`,
    linksOf: sha ?? ground.headSha,
  }));
}

/** The source whose files are kept under a key. */
export const sourceOfKey = (key: string): string => key.split('-', 1)[0]!;

/** The links that belong to files with this layout; none where the commit cannot be read. */
export async function linksUpon(
  ctx: Context,
  ground: Ground | null,
  { linksOf }: Pick<Layout, 'linksOf'>,
  files: Tree,
): Promise<Links> {
  if (!ground || linksOf === null) return new Map();
  try {
    return linksBeside(await repositoryLinks(ctx, ground.repositoryId, linksOf), files);
  } catch (error) {
    ctx.log.warn({ err: error, repository: ground.repositoryId }, 'the links of a commit could not be read');
    return new Map();
  }
}

/**
 * The links of a workspace before and after a patch, where they differ: others' commits may have others, and
 * files may come or go in their place. A side without a source has the links of the ground's commit.
 */
export async function changedLinks(
  ctx: Context,
  ground: Ground | null,
  ids: Record<'from' | 'to', string | null>,
  files: Record<'from' | 'to', Tree>,
): Promise<Record<'from' | 'to', Links> | null> {
  if (!ground) return null;
  const layouts = await layoutsOf(
    ctx,
    ground,
    Object.values(ids).filter((id) => id !== null),
  );
  const side = (which: 'from' | 'to'): Promise<Links> => {
    const layout = layouts.find(({ sourceId }) => sourceId === ids[which]);
    return linksUpon(ctx, ground, layout ?? { linksOf: ground.headSha }, files[which]);
  };
  const [from, to] = [await side('from'), await side('to')];
  return sameLinks(from, to) ? null : { from, to };
}

export const sameLinks = (a: Links, b: Links): boolean =>
  a.size === b.size && [...a].every(([path, target]) => b.get(path) === target);

/** The links that files of a source have upon a ground. */
export async function linksOfSource(
  ctx: Context,
  ground: Ground | null,
  sourceId: string | null,
  files: Tree,
): Promise<Links> {
  if (!ground || sourceId === null) return new Map();
  const [layout] = await layoutsOf(ctx, ground, [sourceId]);
  return layout ? linksUpon(ctx, ground, layout, files) : new Map();
}

/** The files of a source that are not as in the ground's commit. */
export async function newerThan(
  ctx: Context,
  ground: Ground | null,
  files: Tree,
): Promise<ReadonlySet<string>> {
  if (!ground) return new Set();
  const committed: Tree = ground.sourceId === null ? new Map() : await loadTree(ctx, ground.sourceId);
  if (committed === files) return new Set();
  return new Set([...files].flatMap(([path, e]) => (sameEntry(e, committed.get(path)) ? [] : [path])));
}

/** The key of the `.git` upon a ground; of another project it is another one. */
export function historyKey({ projectId, headSha, baseSha, baseBranch }: Ground, depth: number): string {
  const what = JSON.stringify([projectId, headSha, baseSha, baseBranch, depth]);
  return `his_${createHash('sha256').update(what).digest('hex').slice(0, 40)}`;
}
