/** Tabs of a browser, in this process: each has its own cache, and shares locks and channels with the others. */
import type { Client } from '@headrace/client';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import type { Environment } from './environment.ts';
import type { Follows } from './follows.ts';
import type { LaneName, LiveEvent } from './lanes.ts';
import { Session } from './session.ts';

export interface Tab extends Disposable {
  live: Session;
  queries: QueryClient;
  /** What was applied, in the order of each feed. */
  events: LiveEvent[];
  signedOut: number;
  forbidden: number;
  set(facts: Partial<{ visible: boolean; focused: boolean; online: boolean }>): void;
  /** Nothing arrives or leaves any more; with false, all of it does. */
  freeze(isFrozen: boolean): void;
  /** Messages to this tab are lost, or no longer. */
  lose(isLost: boolean): void;
  /** Shows a query until the end, or until the returned function is called. */
  show(key: string, read: () => Promise<unknown>, follows?: Follows): () => void;
}

const FRAME_MS = 16;
let count = 0;
/** Locks and channels are of the whole process, as they are of a whole browser. */
export const newIdentity = () => ({ userId: `usr_${process.pid}_${++count}`, organizationId: 'org_1' });

export interface TabOptions {
  client: Client;
  identity: { userId: string; organizationId: string };
  lanes?: LaneName[];
  hasLocks?: boolean;
  visible?: boolean;
  focused?: boolean;
  queries?: QueryClient;
}

export function openTab({ client, identity, hasLocks = true, ...options }: TabOptions): Tab {
  const facts = { visible: options.visible ?? true, focused: options.focused ?? true, online: true };
  const ears = new Set<() => void>();
  const gate = { isFrozen: false, isDeaf: false, held: [] as (() => void)[] };
  const pass = (run: () => void) => (gate.isFrozen ? void gate.held.push(run) : run());
  const environment: Environment = {
    locks: hasLocks ? navigator.locks : null,
    openChannel: (name) => gated(new BroadcastChannel(name), pass, () => gate.isDeaf),
    // A frozen leader is replaced after ten.
    tickMs: 50,
    isVisible: () => facts.visible,
    isFocused: () => facts.focused,
    isOnline: () => facts.online,
    listen(onChange) {
      ears.add(onChange);
      return () => ears.delete(onChange);
    },
    atFrame(run) {
      const timer = setTimeout(run, FRAME_MS);
      return () => clearTimeout(timer);
    },
  };
  const queries = options.queries ?? new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const ends: (() => void)[] = [];
  const onSignedOut = () => void tab.signedOut++;
  const onForbidden = () => void tab.forbidden++;
  const { lanes = ['apps', 'direct'] } = options;
  const live = new Session({ client, queries, identity, lanes, onSignedOut, onForbidden }, environment);
  const tab: Tab = {
    live,
    queries,
    events: [],
    signedOut: 0,
    forbidden: 0,
    set(change) {
      Object.assign(facts, change);
      for (const ear of ears) ear();
    },
    freeze(isFrozen) {
      gate.isFrozen = isFrozen;
      if (!isFrozen) for (const run of gate.held.splice(0)) run();
    },
    lose: (isLost) => void (gate.isDeaf = isLost),
    show(key, read, follows) {
      const observer = new QueryObserver(queries, { queryKey: [key], queryFn: read, meta: { follows } });
      const end = observer.subscribe(() => {});
      ends.push(end);
      return end;
    },
    [Symbol.dispose]() {
      live.stop();
      for (const end of ends) end();
    },
  };
  live.onEvents((events) => tab.events.push(...events));
  return tab;
}

/** A channel whose messages wait while the tab is frozen. */
function gated(
  channel: BroadcastChannel,
  pass: (run: () => void) => void,
  isDeaf: () => boolean,
): BroadcastChannel {
  const listeners = new Map<unknown, (event: MessageEvent) => void>();
  let isClosed = false;
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has none
    postMessage: (message: unknown) => pass(() => isClosed || channel.postMessage(message)),
    addEventListener(type: string, listener: (event: MessageEvent) => void) {
      const late = (event: MessageEvent) => isDeaf() || pass(() => listener(event));
      listeners.set(listener, late);
      channel.addEventListener(type as 'message', late);
    },
    removeEventListener: (type: string, listener: unknown) =>
      channel.removeEventListener(type as 'message', listeners.get(listener)!),
    close() {
      isClosed = true;
      channel.close();
    },
  } as unknown as BroadcastChannel;
}
