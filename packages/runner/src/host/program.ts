import { setTimeout as sleep } from 'node:timers/promises';
import type { HostAgent, ProviderName } from './agents.ts';
import type { Folder } from './bindings.ts';
import { connect, type Identity } from './connection.ts';
import type { HostStatus } from './protocol.ts';
import type { LocalHost } from './routes.ts';
import { openState, statePath, type StateFolder } from './state-folder.ts';
import { HostTasks } from './tasks.ts';
import { HostWorkspaces } from './workspaces.ts';

const FIRST_WAIT_MS = 1_000,
  LONGEST_WAIT_MS = 30_000;

export interface HostOptions {
  url: string;
  token: string;
  version: string;
  share: HostStatus['share'];
  folders: readonly Folder[];
  agents: readonly (HostAgent & { name: ProviderName })[];
  env: NodeJS.ProcessEnv;
  /** Ends the program, with all turns. */
  signal: AbortSignal;
  onOnline: (identity: Identity) => void;
  /** Why it is not connected, once for each time that it is not. */
  onAway: (reason: string, retryMs: number) => void;
}

/**
 * Serves the service as a host until `signal` fires or the service takes this program no more: then returns why. Turns go on while it
 * is not connected, and end with it. Throws an Error for a person where its state cannot be used.
 */
export async function runHost(options: HostOptions): Promise<string | undefined> {
  const { url, token, signal } = options;
  let opened: { id: string; state: StateFolder; host: LocalHost } | undefined;
  const onOpen = async (identity: Identity): Promise<LocalHost> => {
    if (opened && opened.id !== identity.id) throw new Error('The service takes this host for another one.');
    opened ??= { id: identity.id, ...(await openHost(options, identity.id)) };
    options.onOnline(identity);
    return opened.host;
  };
  try {
    for (let failures = 0; !signal.aborted;) {
      const { isFinal, reason, openMs } = await connect({ url, token, onOpen, signal });
      if (signal.aborted) return undefined;
      if (isFinal) return reason;
      // A connection that worked for a moment was no failure: one that breaks often is soon back each time.
      failures = openMs > FIRST_WAIT_MS ? 1 : failures + 1;
      const waitMs = jittered(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1)));
      options.onAway(reason, waitMs);
      await sleep(waitMs, undefined, { signal }).catch(() => {});
    }
    return undefined;
  } finally {
    await opened?.host.tasks.close();
    opened?.state.release();
  }
}

/** Many hosts that lost one service do not come back at once. */
const jittered = (ms: number): number => Math.round(ms * (0.5 + Math.random() / 2));

/** Opens the state of this host, and completes or ends what an earlier program has left. */
async function openHost(
  { version, share, folders, agents, env }: HostOptions,
  id: string,
): Promise<{ state: StateFolder; host: LocalHost }> {
  const state = await openState(statePath(id, env));
  const workspaces = new HostWorkspaces(state.path, folders);
  const tasks = new HostTasks(state.path, workspaces, agents);
  await tasks.recover();
  workspaces.recover();
  return {
    state,
    host: { version, providers: agents.map(({ name }) => name), share, folders, workspaces, tasks },
  };
}
