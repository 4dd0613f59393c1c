/** Merges of whole commits, and copies of them, in a bare repository: git 2.38 or newer decides. */
import { runGit } from './run-git.ts';

export interface Person {
  name: string;
  email: string;
}

/** The tree of the merge of two commits; null where they are in conflict or have no common history. */
export async function mergeTrees(gitDir: string, ours: string, theirs: string): Promise<string | null> {
  const { code, output } = await runGit(
    gitDir,
    ['merge-tree', '--write-tree', '--no-messages', ours, theirs],
    {
      codes: [0, 1, 128],
    },
  );
  if (code === 0) return output.toString('latin1').slice(0, 40);
  // Where it could try, it names a tree also with conflicts in it.
  if (code === 1 && output.length > 0) return null;
  if (code === 128 && (await runGit(gitDir, ['merge-base', ours, theirs], { codes: [0, 1] })).code === 1)
    return null;
  throw new Error(`git merge-tree ended (${code}) without a tree`);
}

/** Whether `commit` is in the history of `of`, or is it. */
export async function isAncestor(gitDir: string, commit: string, of: string): Promise<boolean> {
  const { code } = await runGit(gitDir, ['merge-base', '--is-ancestor', commit, of], { codes: [0, 1] });
  return code === 0;
}

interface NewMerge {
  tree: string;
  parents: readonly string[];
  message: string;
  /** Author and committer. */
  person: Person;
  date: Date;
  /** File of an SSH private key. */
  signingKey: string | null;
}

/** Makes a commit that no ref names, and gives its id. */
export async function commitTree(gitDir: string, commit: NewMerge): Promise<string> {
  const { tree, parents, message, person, date, signingKey } = commit;
  const when = `@${Math.floor(date.getTime() / 1000)} +0000`;
  const { output } = await runGit(
    gitDir,
    [
      ...(signingKey === null ? [] : ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${signingKey}`]),
      'commit-tree',
      ...(signingKey === null ? [] : ['-S']),
      ...parents.flatMap((parent) => ['-p', parent]),
      tree,
    ],
    {
      input: message.endsWith('\n') ? message : `${message}\n`,
      env: {
        GIT_AUTHOR_NAME: person.name,
        GIT_AUTHOR_EMAIL: person.email,
        GIT_AUTHOR_DATE: when,
        GIT_COMMITTER_NAME: person.name,
        GIT_COMMITTER_EMAIL: person.email,
        GIT_COMMITTER_DATE: when,
      },
    },
  );
  return output.toString('latin1').trim();
}

/** Commits that one rebase copies. */
const MAX_COPIES = 1_000;

/**
 * Copies the commits that `head` has and `base` lacks upon `base`, without merges, in their order, each with
 * its author, date and message. One whose change the new history has already is left out. Gives the last
 * copy (`base` where there is none); null where one is in conflict, or there are more than a thousand.
 */
export async function rebaseCommits(
  gitDir: string,
  { base, head }: { base: string; head: string },
  committer: { person: Person; date: Date },
): Promise<string | null> {
  const { output } = await runGit(gitDir, [
    'rev-list',
    '--reverse',
    '--topo-order',
    '--no-merges',
    `--max-count=${MAX_COPIES + 1}`,
    head,
    `^${base}`,
  ]);
  const commits = output.toString('latin1').split('\n').filter(Boolean);
  if (commits.length > MAX_COPIES) return null;
  const { person, date } = committer;
  const line = `committer ${person.name} <${person.email}> ${Math.floor(date.getTime() / 1000)} +0000`;
  let tip = { commit: base, tree: await treeOf(gitDir, base) };
  for (const one of commits) {
    const raw = await readCommit(gitDir, one);
    const before = raw.parent === null ? await emptyTree(gitDir) : await treeOf(gitDir, raw.parent);
    const tree = await replayTree(gitDir, { before, after: raw.tree, onto: tip.tree });
    if (tree === null) return null;
    if (tree === tip.tree && raw.tree !== before) continue;
    tip = { commit: await writeCopy(gitDir, raw, { parent: tip.commit, tree, committer: line }), tree };
  }
  return tip.commit;
}

interface RawCommit {
  tree: string;
  parent: string | null;
  /** The lines of author and encoding, and behind an empty one the message: in no encoding. */
  author: string;
  encoding: string | null;
  message: string;
}

async function readCommit(gitDir: string, id: string): Promise<RawCommit> {
  const text = (await runGit(gitDir, ['cat-file', 'commit', id])).output.toString('latin1');
  const end = text.indexOf('\n\n');
  const lines = text.slice(0, end === -1 ? undefined : end).split('\n');
  const lineOf = (name: string) => lines.find((line) => line.startsWith(`${name} `)) ?? null;
  return {
    tree: lineOf('tree')!.slice(5),
    parent: lineOf('parent')?.slice(7) ?? null,
    author: lineOf('author')!,
    encoding: lineOf('encoding'),
    message: end === -1 ? '' : text.slice(end + 2),
  };
}

async function writeCopy(
  gitDir: string,
  { author, encoding, message }: RawCommit,
  { parent, tree, committer }: { parent: string; tree: string; committer: string },
): Promise<string> {
  // latin1 keeps the bytes of the copied lines; the committer's own are UTF-8.
  const head = [`tree ${tree}`, `parent ${parent}`, author, Buffer.from(committer).toString('latin1')];
  if (encoding !== null) head.push(encoding);
  const { output } = await runGit(gitDir, ['hash-object', '-t', 'commit', '-w', '--stdin'], {
    input: Buffer.from(`${head.join('\n')}\n\n${message}`, 'latin1'),
  });
  return output.toString('latin1').trim();
}

/** The change from one tree to another upon a third; null where it is in conflict. */
async function replayTree(
  gitDir: string,
  { before, after, onto }: { before: string; after: string; onto: string },
): Promise<string | null> {
  if (before === onto) return after;
  // git 2.39 takes no merge base: commits that are made up have the right one.
  const made = (tree: string, parents: string[] = []) =>
    commitTree(gitDir, {
      tree,
      parents,
      message: 'replay',
      person: { name: 'Headrace', email: 'headrace@localhost' },
      date: new Date(0),
      signingKey: null,
    });
  const base = await made(before);
  return mergeTrees(gitDir, await made(onto, [base]), await made(after, [base]));
}

const treeOf = async (gitDir: string, commit: string): Promise<string> =>
  (await runGit(gitDir, ['rev-parse', '--verify', `${commit}^{tree}`])).output.toString('latin1').trim();

const emptyTree = async (gitDir: string): Promise<string> =>
  (await runGit(gitDir, ['mktree'], { input: '' })).output.toString('latin1').trim();
