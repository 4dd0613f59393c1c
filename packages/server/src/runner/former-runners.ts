/**
 * Runners of other versions of the protocol that this host still has from before an upgrade, or a return to
 * an older version. They get no new work. Workers finish what they have:
 *
 *   found      at the process's start, by the name of its socket
 *   holding    calls about its tasks and workspaces go to it (route-calls.ts); idle workspaces are saved
 *   released   it holds nothing more, or is newer than this version: nobody calls it, so it ends by itself
 *   gone       its socket answers nobody any more
 */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createRunnerClient, RunnerError } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import { within } from '../deadline.ts';

export interface FormerRunner {
  /** As a workspace's row names it: `<id>:<pid>`. */
  id: string;
  client: RunnerClient;
}

const ANSWER_MS = 5_000;

export class FormerRunners {
  #held: FormerRunner[] = [];

  list(): readonly FormerRunner[] {
    return this.#held;
  }

  /** Looks for live runners at these sockets. */
  async find(sockets: readonly string[]): Promise<void> {
    for (const socket of sockets) {
      const client = createRunnerClient(socket);
      const status = await within(ANSWER_MS, client.status()).catch(() => null);
      if (status) this.#held.push({ id: `${status.id}:${status.pid}`, client });
      else client.close();
    }
  }

  /**
   * The client of the one that has what `asks` looks for: a task, a workspace. Undefined when none has. Throws
   * where one does not say.
   */
  async holding(asks: (client: RunnerClient) => Promise<boolean>): Promise<RunnerClient | undefined> {
    for (const former of this.#held) {
      try {
        if (await within(ANSWER_MS, asks(former.client))) return former.client;
      } catch (error) {
        if (isGone(error)) this.release(former);
        else if (!(error instanceof RunnerError && error.status === 404)) throw error;
      }
    }
    return undefined;
  }

  /** A sign of life to each: without a call for 30 seconds a runner ends all that it has. */
  async greet(): Promise<void> {
    await Promise.allSettled(this.#held.map(({ client }) => client.status()));
  }

  /** Calls it no more. Without a call for 30 seconds it ends. */
  release(former: FormerRunner): void {
    this.#held = this.#held.filter((other) => other !== former);
    former.client.close();
  }

  close(): void {
    for (const former of this.#held) this.release(former);
  }
}

/** Whether nothing listens on the socket any more. */
export function isGone(error: unknown): boolean {
  if (!(error instanceof RunnerError) || !(error.cause instanceof Error)) return false;
  const { code } = error.cause as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ECONNREFUSED';
}

/** The sockets of runners of older versions next to this one's: `<name>.runner` (0), `<name>.v1.runner`, … */
export async function olderSockets(socketPath: string, version: number): Promise<string[]> {
  const folder = dirname(socketPath);
  const name = basename(socketPath).split('.')[0]!;
  const versionOf = (file: string): number => {
    const [first, label, last] = file.split('.');
    if (first !== name) return Infinity;
    if (label === 'runner' && last === undefined) return 0;
    return last === 'runner' && /^v\d+$/.test(label!) ? Number(label!.slice(1)) : Infinity;
  };
  return (await readdir(folder))
    .filter((file) => versionOf(file) < version)
    .map((file) => join(folder, file));
}
