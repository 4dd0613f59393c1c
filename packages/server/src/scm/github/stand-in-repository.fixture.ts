/** A repository of the stand-in: a bare one on disk, and what GitHub keeps of it. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LongLog } from './stand-in-logs.fixture.ts';

const run = promisify(execFile);

export const GIT = {
  PATH: process.env['PATH']!,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.test',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.test',
};

export interface StandInPull {
  number: number;
  nodeId: string;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  draft: boolean;
  headRef: string;
  headSha: string;
  baseRef: string;
  mergedAt: string | null;
  mergeCommitSha: string | null;
  /** In a merge queue. */
  queued: boolean;
  /** When it changed last; a thread that is resolved does not count. */
  updatedAt: string;
  /** What it was then. */
  was: string;
  threads: StandInThread[];
  reviews: { author: string; state: string }[];
}

export interface StandInThread {
  id: string;
  isResolved: boolean;
  path: string | null;
  line: number | null;
  comments: { id: string; author: string; association: string; body: string; createdAt: string }[];
}

interface StandInCheck {
  id: number;
  sha: string;
  name: string;
  status: string;
  conclusion: string | null;
  summary?: string;
  text?: string;
  app?: string;
}

export class StandInRepository {
  readonly id: number;
  readonly dir: string;
  owner: string;
  name: string;
  formerNames: string[] = [];
  isPrivate = true;
  archived = false;
  defaultBranch = 'main';
  /** What the credential may do. */
  canPush = true;
  mergeMethods = new Set(['merge', 'squash', 'rebase']);
  protectedBranches = new Set<string>();
  requiredChecks: string[] = [];
  requiresReview = false;
  /** Branches with a merge queue. */
  queues = new Set<string>();
  pulls: StandInPull[] = [];
  issues = new Map<number, { title: string; comments: { id: number; author: string; body: string }[] }>();
  statuses: {
    sha: string;
    context: string;
    state: string;
    description: string | null;
    url: string | null;
  }[] = [];
  checks: StandInCheck[] = [];
  logs = new Map<number, string | LongLog>();

  constructor(id: number, owner: string, name: string, dir: string) {
    this.id = id;
    this.owner = owner;
    this.name = name;
    this.dir = dir;
  }

  get fullName(): string {
    return `${this.owner}/${this.name}`;
  }

  async git(...args: string[]): Promise<string> {
    const { stdout } = await run('git', ['-C', this.dir, ...args], { env: GIT, maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  }

  /** Null where git refuses. */
  async ask(...args: string[]): Promise<string | null> {
    return this.git(...args).catch(() => null);
  }

  tip(branch: string): Promise<string | null> {
    return this.ask('rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`);
  }

  /** A commit on a branch, which begins at `from` where it is not there. Null removes a file. */
  async commit(
    branch: string,
    files: Record<string, string | null>,
    { message = 'Change', from = this.defaultBranch }: { message?: string; from?: string } = {},
  ): Promise<string> {
    const parent = (await this.tip(branch)) ?? (await this.tip(from));
    const folder = await mkdtemp(join(tmpdir(), 'stand-in-index-'));
    const env = { ...GIT, GIT_INDEX_FILE: join(folder, 'index') };
    const git = async (...args: string[]) =>
      (await run('git', ['-C', this.dir, ...args], { env })).stdout.trim();
    try {
      if (parent) await git('read-tree', parent);
      for (const [path, content] of Object.entries(files)) {
        if (content === null) {
          await git('update-index', '--force-remove', path);
          continue;
        }
        const blob = await this.#write(content);
        await git('update-index', '--add', '--cacheinfo', `100644,${blob},${path}`);
      }
      const tree = await git('write-tree');
      const sha = await git('commit-tree', tree, ...(parent ? ['-p', parent] : []), '-m', message);
      await git('update-ref', `refs/heads/${branch}`, sha);
      return sha;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  #write(content: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = execFile(
        'git',
        ['-C', this.dir, 'hash-object', '-w', '--stdin'],
        { env: GIT },
        (error, out) => (error ? reject(error) : resolve(out.trim())),
      );
      child.stdin!.end(content);
    });
  }

  /** The tree of a merge; null where it is in conflict. */
  async mergedTree(base: string, head: string): Promise<string | null> {
    const said = await this.ask('merge-tree', '--write-tree', base, head);
    return said?.split('\n')[0] ?? null;
  }

  async isAncestor(one: string, of: string): Promise<boolean> {
    return (await this.ask('merge-base', '--is-ancestor', one, of)) !== null;
  }

  /** The commits of a pull request upon the base, as copies. */
  async rebased(base: string, head: string): Promise<string | null> {
    const folder = await mkdtemp(join(tmpdir(), 'stand-in-rebase-'));
    const tree = join(folder, 'tree');
    const git = (...args: string[]) => run('git', ['-C', tree, ...args], { env: GIT });
    try {
      await this.git('worktree', 'add', '--detach', tree, head);
      await git('rebase', '--force-rebase', base);
      return (await git('rev-parse', 'HEAD')).stdout.trim();
    } catch {
      return null;
    } finally {
      await this.ask('worktree', 'remove', '--force', tree);
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** What pushes have done to it since the last look. */
  async refresh(pull: StandInPull): Promise<void> {
    if (pull.state !== 'open') return;
    const tip = await this.tip(pull.headRef);
    // It was merged or closed in the meantime.
    if (pull.state !== 'open') return;
    pull.headSha = tip ?? pull.headSha;
    await this.git('update-ref', `refs/pull/${pull.number}/head`, pull.headSha);
    const base = await this.tip(pull.baseRef);
    if (base && (await this.isAncestor(pull.headSha, base))) {
      pull.state = 'closed';
      pull.mergedAt = new Date().toISOString();
      pull.mergeCommitSha = base;
    }
  }

  newestCheck(context: string, sha: string): string | null {
    const status = this.statuses.findLast((one) => one.sha === sha && one.context === context)?.state;
    const check = this.checks.findLast((one) => one.sha === sha && one.name === context);
    return status ?? check?.conclusion ?? null;
  }
}
