/**
 * What git makes of the same drafts: a real repository per app, in which the applied ones are merged in the
 * order of the head's history.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { timed } from '../../harness/git.ts';
import { EARLY, firstFiles } from './drafts.ts';
import type { Change, Plan } from './drafts.ts';

/** Git's name of each file's content, by path. No file here is executable. */
export type Files = Map<string, string>;

export interface Merge {
  /** With conflicts: paths that git names are as git leaves them, with markers. */
  files: Files;
  conflicts: string[];
}

export interface Model {
  /** git's merge of a draft into a revision of the head. */
  merge(revision: number, draft: number): Promise<Merge>;
  /** What a revision, or a draft, holds at a path; undefined for nothing. */
  at(of: { revision: number } | { draft: number }, path: string): Promise<string | undefined>;
  files(revision: number): Promise<Files>;
  /** Makes this the next revision. Contents that git does not have are given. */
  commit(files: Files, contents: readonly string[]): Promise<void>;
}

export const blobName = (content: Buffer) =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

/** A repository in `folder` with the first revisions of the head and all drafts. */
export async function makeModel(folder: string, plans: readonly Plan[]): Promise<Model> {
  mkdirSync(folder);
  const git = async (command: string, input?: string) =>
    (await timed(command, { cwd: folder, ...(input === undefined ? {} : { input }) })).output;
  await git('git init -q --bare .');
  const first = firstFiles(plans.length).map(({ path, content }) => ({ path, content }));
  const early = [first, ...EARLY].map((changes, n) =>
    commitOf(`head-${n + 1}`, n === 0 ? null : `head-${n}`, changes),
  );
  await git(
    'git fast-import --quiet',
    [
      ...early,
      ...plans.map((plan) => commitOf(`draft-${plan.number}`, `head-${plan.base}`, plan.changes)),
    ].join(''),
  );
  let head = EARLY.length + 1;
  const filesOf = async (ref: string): Promise<Files> =>
    new Map(
      (await git(`git ls-tree -r ${ref}`))
        .split('\n')
        .map((line) => [line.slice(line.indexOf('\t') + 1), line.split(/[ \t]/)[2]!]),
    );
  return {
    async merge(revision, draft) {
      const [tree, ...names] = (
        await git(
          `git merge-tree --write-tree --name-only --no-messages head-${revision} draft-${draft} || test $? = 1`,
        )
      ).split('\n');
      return {
        files: await filesOf(tree!),
        conflicts: [...new Set(names.filter((name) => name !== ''))].sort(),
      };
    },
    async at(of, path) {
      const line = await git(
        `git ls-tree ${'draft' in of ? `draft-${of.draft}` : `head-${of.revision}`} ${path}`,
      );
      return line === '' ? undefined : line.split(/[ \t]/)[2]!;
    },
    files: (revision) => filesOf(`head-${revision}`),
    async commit(files, contents) {
      for (const content of contents) await git('git hash-object -w --stdin', content);
      const index = [...files].map(([path, name]) => `100644 ${name}\t${path}\n`).join('');
      await git(
        `export GIT_INDEX_FILE=index-${head}; git update-index --add --index-info && git branch head-${head + 1} $(git commit-tree $(git write-tree) -p head-${head} -m head)`,
        index,
      );
      head++;
    },
  };
}

const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
const change = ({ path, content }: Change) =>
  content === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(content)}`;

function commitOf(name: string, from: string | null, changes: readonly Change[]): string {
  return `commit refs/heads/${name}\ncommitter b <b@example.test> 0 +0000\n${data(name)}${from === null ? '' : `from refs/heads/${from}\n`}${changes.map(change).join('')}\n`;
}
