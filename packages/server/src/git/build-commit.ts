/**
 * Commits by git fast-import: one process, which loads only the folders that change and leaves every entry of
 * the others as it is, its odd modes too. mktree would need them all: ls-tree shows canonical modes alone.
 */
import { Readable } from 'node:stream';
import { runGit } from './run-git.ts';

export interface Person {
  name: string;
  email: string;
}

/** An entry of a tree as git has it. */
export interface GitEntry {
  mode: string;
  id: string;
}

/** What a commit changes of its first parent's tree; `null` removes. `content` is a key of `contents`. */
export type GitChange = [path: Buffer, to: GitEntry | { mode: string; content: string } | null];

export interface NewCommit {
  /** Commits of the repository. Without one the tree begins empty. */
  parents: readonly string[];
  /** Are applied in this order: a later one replaces what is at, above or below its path. */
  changes: readonly GitChange[];
  /** Every content that the changes name, once, at the consumer's pace. */
  contents: AsyncIterable<{ key: string; bytes: Buffer }>;
  message: string;
  /** Author and committer. */
  person: Person;
  date: Date;
  /** File of an SSH private key. */
  signingKey: string | null;
}

/** Of a commit with 5,000 changed files 1 s is spent here; a full disk or a store that hangs ends it. */
const LIMIT_MS = 600_000;
/** fast-import needs a name for what it makes; it is reset before the end, so no reference is written or locked. */
const NAME = 'refs/headrace/building';

/**
 * Makes a commit that no ref names and gives its id: the same for the same arguments, unless the signing key
 * is of a kind whose signatures differ. Throws GitError, and what `contents` throws.
 */
export async function buildGitCommit(
  gitDir: string,
  commit: NewCommit,
  signal?: AbortSignal,
): Promise<string> {
  const { output } = await runGit(gitDir, ['fast-import', '--quiet', '--done', '--date-format=raw'], {
    input: Readable.from(streamOf(commit)),
    limitMs: LIMIT_MS,
    ...(signal && { signal }),
  });
  const id = output.toString('utf8').trim();
  return commit.signingKey === null ? id : sign(gitDir, id, commit);
}

async function* streamOf({ parents, changes, contents, message, person, date }: NewCommit) {
  const marks = new Map<string, number>();
  for await (const { key, bytes } of contents) {
    marks.set(key, marks.size + 2);
    yield `blob\nmark :${marks.get(key)}\ndata ${bytes.length}\n`;
    yield bytes;
    yield '\n';
  }
  const who = `${personLine(person)} ${Math.floor(date.getTime() / 1000)} +0000`;
  const [first, ...others] = parents;
  yield `commit ${NAME}\nmark :1\nauthor ${who}\ncommitter ${who}\n`;
  yield `data ${Buffer.byteLength(message)}\n${message}\n`;
  if (first) yield `from ${first}\n`;
  for (const other of others) yield `merge ${other}\n`;
  for (const [path, to] of changes) {
    if (to === null) yield `D ${quoted(path)}\n`;
    else yield `M ${to.mode} ${'id' in to ? to.id : `:${marks.get(to.content)}`} ${quoted(path)}\n`;
  }
  yield `\nget-mark :1\nreset ${NAME}\n\ndone\n`;
}

/** The same commit once more, signed: git calls ssh-keygen. */
async function sign(gitDir: string, id: string, commit: NewCommit): Promise<string> {
  const date = `${Math.floor(commit.date.getTime() / 1000)} +0000`;
  const { name, email } = clean(commit.person);
  const { output } = await runGit(
    gitDir,
    [
      '-c',
      'gpg.format=ssh',
      '-c',
      `user.signingKey=${commit.signingKey}`,
      'commit-tree',
      '-S',
      ...commit.parents.flatMap((parent) => ['-p', parent]),
      `${id}^{tree}`,
    ],
    {
      input: commit.message,
      env: {
        GIT_AUTHOR_NAME: name,
        GIT_AUTHOR_EMAIL: email,
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_NAME: name,
        GIT_COMMITTER_EMAIL: email,
        GIT_COMMITTER_DATE: date,
      },
    },
  );
  return output.toString('utf8').trim();
}

/** Without what would end a name or an address in a commit. */
const clean = ({ name, email }: Person): Person => {
  // oxlint-disable-next-line no-control-regex
  const plain = (text: string): string => text.replace(/[\u0000-\u0020\u007f<>]+/g, ' ').trim();
  return { name: plain(name), email: plain(email) };
};

const personLine = (person: Person): string => {
  const { name, email } = clean(person);
  return `${name} <${email}>`;
};

/** A path as git quotes it: any byte may be in it. */
function quoted(path: Buffer): string {
  let text = '';
  for (const byte of path)
    text +=
      byte < 0x20 || byte >= 0x7f || byte === 0x22 || byte === 0x5c
        ? `\\${byte.toString(8).padStart(3, '0')}`
        : String.fromCharCode(byte);
  return `"${text}"`;
}
