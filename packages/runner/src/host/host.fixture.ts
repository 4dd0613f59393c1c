import { execFileSync } from 'node:child_process';
import { agentOf } from './agents.ts';
import { folderOf } from './bindings.ts';
import { fakeService, TOKEN, type Line } from './fake-service.fixture.ts';
import { runHost } from './program.ts';
import type { HostTurnRequest } from './protocol.ts';

export interface TestHost {
  service: Awaited<ReturnType<typeof fakeService>>;
  line: Line;
  folder: string;
  state: string;
  /** What it said when it was not connected. */
  away: string[];
  /** Until it was to dial again, in ms, each time. */
  waits: number[];
  /** What `runHost` returns. */
  ended: Promise<string | undefined>;
  stop(): Promise<void>;
  git(...args: string[]): string;
}

interface Given {
  folder: string;
  state: string;
  /** As on the command line. */
  agent?: string;
}

/** A host's program in this process, with the folder `site`, and the service that it serves. */
export async function startHost({ folder, state, agent = 'agent_a=scripted' }: Given): Promise<TestHost> {
  const service = await fakeService();
  const end = new AbortController();
  const away: string[] = [],
    waits: number[] = [];
  const ended = runHost({
    url: service.url,
    token: TOKEN,
    version: '1.2.3',
    share: 'owner',
    folders: [folderOf(`site=${folder}`, '/')],
    agents: [agentOf(agent)],
    env: { XDG_STATE_HOME: state },
    signal: end.signal,
    onOnline: () => {},
    onAway: (reason, retryMs) => {
      away.push(reason);
      waits.push(retryMs);
    },
  });
  return {
    service,
    folder,
    state,
    away,
    waits,
    ended,
    line: await service.line(),
    async stop() {
      end.abort();
      await ended;
      service.close();
    },
    git: (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim(),
  };
}

export const turnOf = (more: Partial<HostTurnRequest>): HostTurnRequest => ({
  kind: 'turn',
  workspaceId: 'thr_1',
  binding: 'site',
  mode: 'direct',
  provider: 'agent_a',
  model: null,
  prompt: 'Nothing.',
  permissions: 'allow',
  timeoutMs: 60_000,
  ...more,
});

/** The worktree on this branch, as git tells of it. */
export function worktree(git: TestHost['git'], branch: string): string | undefined {
  for (const part of git('worktree', 'list', '--porcelain').split('\n\n'))
    if (part.split('\n').includes(`branch refs/heads/${branch}`)) return /^worktree (.*)$/m.exec(part)?.[1];
  return undefined;
}
