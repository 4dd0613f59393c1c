/** Repositories on this machine and a provider that reaches them, for tests of this domain. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Context } from '../context.ts';
import { gitEnvironment } from '../git/run-git.ts';
import { newId } from '../ids.ts';
import type { GitTransport, OpenRepository, Provider } from '../scm/index.ts';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.test',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.test',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

/** A repository with a checkout. */
export class Upstream {
  readonly dir = mkdtempSync(join(tmpdir(), 'headrace-upstream-'));

  constructor() {
    this.git('init', '--quiet', '--initial-branch=main');
    this.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
    this.git('config', 'gc.auto', '0');
  }

  git(...args: string[]): string {
    const env = gitEnvironment(IDENTITY);
    return execFileSync('git', args, { cwd: this.dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
      .toString()
      .trim();
  }

  write(files: Record<string, string | Buffer | null>): void {
    for (const [path, content] of Object.entries(files)) {
      const at = join(this.dir, path);
      if (content === null) rmSync(at, { recursive: true });
      else {
        mkdirSync(dirname(at), { recursive: true });
        writeFileSync(at, content);
      }
    }
  }

  /** Commits the whole checkout with these changes; returns its id. */
  commit(files: Record<string, string | Buffer | null>, message = 'Change'): string {
    this.write(files);
    this.git('add', '--all');
    this.git('commit', '--quiet', '--allow-empty', '--message', message);
    return this.git('rev-parse', 'HEAD');
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** A repository of a provider that answers from `upstream`; `transport` replaces how git reaches it. */
export function openUpstream(
  upstream: Upstream,
  transport: (options?: { isRetry?: boolean }) => Partial<GitTransport> = () => ({}),
): OpenRepository {
  const id = newId('repo');
  return {
    provider: {
      resolveRef: async (_, ref) => {
        try {
          return upstream.git('rev-parse', '--verify', '--quiet', `refs/heads/${ref}`);
        } catch {
          return null;
        }
      },
      gitTransport: async (_, options) => ({
        url: upstream.dir,
        env: {},
        folder: null,
        ...transport(options),
      }),
    } satisfies Partial<Provider> as unknown as Provider,
    at: { repository: { id } } as OpenRepository['at'],
  };
}

/** A folder for the caches of a test. */
export function makeDataFolder(): { ctx: Pick<Context, 'config'>; remove: () => void } {
  const dataDir = mkdtempSync(join(tmpdir(), 'headrace-caches-'));
  return {
    ctx: { config: { dataDir, scm: { historyDepth: 50 } } as Context['config'] },
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}
