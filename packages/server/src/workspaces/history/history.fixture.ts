/** For tests: a thread upon a commit of a repository that the service hosts. */
import { runGit } from '../../git/run-git.ts';
import type { TestAnswer, TestServer } from '../../service.fixture.ts';
import { loadTree, readBlobs } from '../../sources/index.ts';
import { ok, sh } from '../../threads/threads.fixture.ts';
import type { Files } from '../../threads/threads.fixture.ts';
import { newBoundProject, preparedThread } from '../repositories.fixture.ts';

/** An entry of a tree: a file, or another kind by its mode and content (the commit of a submodule). */
export interface Odd {
  path: string | Buffer;
  mode?: '100644' | '100755' | '120000' | '160000';
  content: string;
}

export interface Grounded {
  /** The bare repository. */
  dir: string;
  projectId: string;
  /** The path of the project's operations, and of the thread's. */
  project: string;
  at: string;
  threadId: string;
  thread(): Promise<TestAnswer['body']>;
  latest(): Promise<string>;
  /** Commits upon the newest one on the branch, with exactly these entries. */
  commit(entries: Odd[], message?: string): Promise<string>;
  /** Runs a command as the scripted agent; the run must complete. */
  work(command: string): Promise<TestAnswer['body']>;
  /** The output of a command in the workspace, which must succeed. */
  exec(command: string): Promise<string>;
  files(sourceId: string): Promise<Files>;
  /** Deletes the workspace, as the end of a runner does. */
  lose(): Promise<void>;
}

/** For git fast-import: bytes in quotes. */
const quoted = (path: string | Buffer): string =>
  `"${[...Buffer.from(path)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}"`;

/** A commit upon the one before it, for git fast-import. */
function described(entries: Odd[], message: string, from: string | null): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  return [
    'commit refs/heads/main\ncommitter Ada <ada@example.test> 1700000000 +0000\n',
    data(message),
    from === null ? '' : `from ${from}\n`,
    'deleteall\n',
    ...entries.map(({ path, mode = '100644', content }) =>
      mode === '160000'
        ? `M ${mode} ${content} ${quoted(path)}\n`
        : `M ${mode} inline ${quoted(path)}\n${data(content)}`,
    ),
  ].join('');
}

/**
 * A prepared thread in a project with a repository: the files and the `odd` entries are the newest commit of
 * its branch, with `before` empty ones below it.
 */
export async function newGrounded(
  s: TestServer,
  files: Files,
  { odd = [], before = 0 }: { odd?: Odd[]; before?: number } = {},
): Promise<Grounded> {
  const { ctx } = s.service;
  const { id: projectId, at: project, folder: dir } = await newBoundProject(s, null);
  const commits = async (stream: string): Promise<string> => {
    await runGit(dir, ['fast-import', '--quiet', '--force'], { input: stream });
    return (await runGit(dir, ['rev-parse', 'refs/heads/main'])).output.toString().trim();
  };
  const all = [...Object.entries(files).map(([path, content]) => ({ path, content })), ...odd];
  const steps = Array.from({ length: before }, (_, n) => described([], `Step ${n + 1}`, null));
  let last = await commits([...steps, described(all, 'Base', null)].join(''));
  const { id: threadId } = await preparedThread(s, projectId);
  const at = `/api/threads/${threadId as string}`;
  const thread = async () => (await ok(s.call('GET', at))).thread;
  return {
    dir,
    projectId,
    threadId: threadId as string,
    at,
    thread,
    latest: async () => (await thread()).latestSourceId,
    async commit(entries, message = 'A commit') {
      last = await commits(described(entries, message, last));
      return last;
    },
    async work(command) {
      const { run } = await ok(s.call('POST', `${at}/messages`, { content: sh(command) }));
      const ended = await ok(s.call('GET', `${at}/runs/${run.id}?waitSeconds=30`));
      if (ended.run.status !== 'completed') throw new Error(`${command}: ${JSON.stringify(ended.run.error)}`);
      return ended.run;
    },
    async exec(command) {
      const { exec } = await ok(s.call('POST', `${at}/exec`, { command }));
      if (exec.exitCode !== 0) throw new Error(`${command}: ${exec.stdout}${exec.stderr}`);
      return exec.stdout;
    },
    async files(sourceId) {
      const tree = await loadTree(ctx, sourceId);
      const blobs = await readBlobs(
        ctx,
        projectId,
        [...tree.values()].map(({ sha256 }) => sha256),
      );
      return Object.fromEntries([...tree].map(([path, { sha256 }]) => [path, blobs.get(sha256)!.toString()]));
    },
    lose: () => ctx.runner.deleteWorkspace(threadId as string),
    project,
  };
}
