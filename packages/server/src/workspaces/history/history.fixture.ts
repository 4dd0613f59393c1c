/** For tests: a thread whose files lie on a commit of a repository that is in the cache already. */
import { join } from 'node:path';
import { createBareRepository } from '../../git/bare-repository.ts';
import { runGit } from '../../git/run-git.ts';
import { newId } from '../../ids.ts';
import type { TestServer } from '../../service.fixture.ts';
import { newBench, ok, until } from '../../threads/threads.fixture.ts';
import type { Bench, Files } from '../../threads/threads.fixture.ts';

/** An entry of a tree: a file, or another kind by its mode and content (the commit of a submodule). */
export interface Odd {
  path: string | Buffer;
  mode?: '100644' | '100755' | '120000' | '160000';
  content: string;
}

export interface Grounded extends Bench {
  dir: string;
  repositoryId: string;
  /** Commits upon the newest one, with exactly these entries; nothing else moves. */
  commit(entries: Odd[], message?: string): Promise<string>;
  /** The output of a command in the workspace, which must succeed. */
  exec(command: string): Promise<string>;
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
 * A thread in a project with a repository: its files and the `odd` entries are a commit with `before` empty
 * ones below it.
 */
export async function newGrounded(
  s: TestServer,
  files: Files,
  { odd = [], before = 0 }: { odd?: Odd[]; before?: number } = {},
): Promise<Grounded> {
  const { ctx } = s.service;
  const bench = await newBench(s, { files });
  await bench.ready();
  const repositoryId = newId('repo');
  const dir = join(ctx.config.dataDir, 'git-cache', `${repositoryId}.git`);
  await createBareRepository(dir, { defaultBranch: 'main' });
  const commits = async (stream: string): Promise<string> => {
    await runGit(dir, ['fast-import', '--quiet', '--force'], { input: stream });
    return (await runGit(dir, ['rev-parse', 'refs/heads/main'])).output.toString().trim();
  };
  const all = [...Object.entries(files).map(([path, content]) => ({ path, content })), ...odd];
  const steps = Array.from({ length: before }, (_, n) => described([], `Step ${n + 1}`, null));
  let last = await commits([...steps, described(all, 'Base', null)].join(''));
  const sha = last;
  const commit = async (entries: Odd[], message = 'A commit'): Promise<string> => {
    last = await commits(described(entries, message, last));
    return last;
  };
  const { org_id: orgId } = await ctx.db
    .selectFrom('threads')
    .select('org_id')
    .where('id', '=', bench.threadId)
    .executeTakeFirstOrThrow();
  const { id: installationId } = await ctx.db
    .selectFrom('installations')
    .select('id')
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow();
  await ctx.db
    .insertInto('repositories')
    .values({
      org_id: orgId,
      id: repositoryId,
      installation_id: installationId,
      provider: 'local',
      external_id: repositoryId,
      full_name: repositoryId,
      name: repositoryId,
      default_branch: 'main',
    })
    .execute();
  await ctx.db
    .updateTable('projects')
    .set({ repository_id: repositoryId })
    .where('id', '=', bench.appId)
    .execute();
  await ctx.db
    .updateTable('sources')
    .set({ commit_sha: sha, commit_branch: 'main' })
    .where('id', '=', bench.sourceId)
    .execute();
  await ctx.db
    .updateTable('threads')
    .set({ base_commit_sha: sha, base_branch: 'main' })
    .where('id', '=', bench.threadId)
    .execute();
  // It was restored, and kept, before it lay on a commit.
  await ctx.runner.deleteWorkspace(bench.threadId);
  await until('its files to be forgotten', async () => {
    await ctx.runner.forgetGroup(bench.appId);
    return (await ctx.runner.keptSources(bench.appId)).length === 0;
  });
  return {
    ...bench,
    dir,
    repositoryId,
    commit,
    exec: async (command) => {
      const { exec } = await ok(s.call('POST', `${bench.at}/exec`, { command }));
      if (exec.exitCode !== 0) throw new Error(`${command}: ${exec.stdout}${exec.stderr}`);
      return exec.stdout;
    },
    lose: () => ctx.runner.deleteWorkspace(bench.threadId),
  };
}
