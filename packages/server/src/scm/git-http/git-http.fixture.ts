/** Repositories of a test server, and real git clients that reach them over HTTP. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBareRepository } from '../../git/bare-repository.ts';
import { commitFiles } from '../../git/git.fixture.ts';
import type { FileOf } from '../../git/git.fixture.ts';
import { gitEnvironment } from '../../git/run-git.ts';
import type { TestServer } from '../../service.fixture.ts';
import { localFolder } from '../local/folders.ts';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** git as a client runs it. */
export function git(
  args: string[],
  { cwd = tmpdir(), env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    execFile('git', args, { cwd, env: gitEnvironment(env), maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 99) : 0, stdout, stderr }),
    );
  });
}

export async function gitOk(args: string[], options?: Parameters<typeof git>[1]): Promise<string> {
  const { code, stdout, stderr } = await git(args, options);
  if (code !== 0) throw new Error(`git ${args[0]} ended (${code}): ${stderr}`);
  return stdout.trim();
}

export interface TestRepository {
  id: string;
  name: string;
  /** Of the service. */
  dir: string;
  url: (key?: string) => string;
}

/** A repository of the bootstrap key's organization; with `files`, of one commit on `main`. */
export async function newRepository(s: TestServer, files?: readonly FileOf[]): Promise<TestRepository> {
  const { status, text, body } = await s.call('POST', '/api/source-control/scm/repositories', {
    name: `r-${randomUUID()}`,
  });
  if (status !== 201) throw new Error(`${status}: ${text}`);
  const { id, name } = body.repository as { id: string; name: string };
  const dir = localFolder(s.service.ctx.config, id);
  if (files) await commitFiles(dir, 'main', files);
  return { id, name, dir, url: (key = s.key) => `${s.base.replace('://', `://x:${key}@`)}/git/${name}.git` };
}

/** A bare copy in which commits are made, as `commitFiles` makes them, and from which they are pushed. */
export class Copy {
  readonly dir: string;
  readonly url: string;

  constructor(dir: string, url: string) {
    this.dir = dir;
    this.url = url;
  }

  static async of(repository: TestRepository, key?: string): Promise<Copy> {
    const dir = join(await mkdtemp(join(tmpdir(), 'headrace-copy-')), 'copy.git');
    await createBareRepository(dir, { defaultBranch: 'main' });
    const copy = new Copy(dir, repository.url(key));
    await gitOk(['fetch', '-q', copy.url, '+refs/heads/*:refs/heads/*'], { cwd: dir });
    return copy;
  }

  commit(branch: string, files: readonly FileOf[]): Promise<string> {
    return commitFiles(this.dir, branch, files);
  }

  push(...args: string[]): Promise<Ended> {
    return git(
      [
        'push',
        '--porcelain',
        ...args.filter((arg) => arg.startsWith('-')),
        this.url,
        ...args.filter((arg) => !arg.startsWith('-')),
      ],
      { cwd: this.dir },
    );
  }

  async remove(): Promise<void> {
    await rm(join(this.dir, '..'), { recursive: true, force: true });
  }
}

/** What `git ls-remote` shows, by name. */
export async function refsOf(repository: TestRepository): Promise<Record<string, string>> {
  const lines = (await gitOk(['ls-remote', repository.url()])).split('\n').filter(Boolean);
  return Object.fromEntries(lines.map((line) => line.split('\t').reverse() as [string, string]));
}
