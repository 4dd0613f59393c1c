/** The context of work at a host, and whether one is there. */
import { createHostClient, RunnerError } from '@headrace/runner/client';
import type { HostClient } from '@headrace/runner/client';
import { parseAddress, TlsCredentials } from '@headrace/runner/tls';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { ExecutionTarget } from '../db/schema.ts';
import { relaySocket } from './relay.ts';
import { selectHosts } from './store.ts';

declare module '../context.ts' {
  interface Context {
    /** The host that `runner` is of, where the work at hand is at one; else null. */
    host: AtHost | null;
  }
}

export interface AtHost {
  target: ExecutionTarget;
  client: HostClient;
}

/** Calls go to the host, wherever its connection is then. Nothing of it is at any runner. */
export function atHost(ctx: Context, target: ExecutionTarget): Context {
  const client = hostClient(ctx, target.hostId);
  return {
    ...ctx,
    runner: client,
    runnerStatus: () => null,
    fleet: null,
    at: null,
    host: { target, client },
  };
}

type Standing =
  | { is: 'here'; place: string; processId: string }
  /** Since its last sign of life. */
  | { is: 'away'; seconds: number }
  | { is: 'gone' };

/** Whether a host is online, is away, or was deleted. */
export async function hostStanding({ db }: Pick<Context, 'db'>, hostId: string): Promise<Standing> {
  const host = await selectHosts(db)
    .select(sql<number>`extract(epoch from now() - coalesce(last_seen_at, created_at))::float8`.as('seconds'))
    .where('id', '=', hostId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!host) return { is: 'gone' };
  return host.is_online
    ? { is: 'here', place: host.socket!, processId: host.process_id! }
    : { is: 'away', seconds: host.seconds };
}

const away = () => new RunnerError(503, 'unavailable', 'The host is away.');
const gone = () => new RunnerError(404, 'not_found', 'The host was deleted.');

interface Links {
  tls: TlsCredentials | null;
  /** By host, with where the process that held its connection last passes calls on. */
  clients: Map<string, { place: string; client: HostClient }>;
}

/** Of each process. */
const linksOf = new WeakMap<Context['db'], Links>();

function links({ db, config }: Context): Links {
  const known = linksOf.get(db);
  if (known) return known;
  const { machines } = config;
  const made: Links = { tls: machines && new TlsCredentials(machines.tls), clients: new Map() };
  linksOf.set(db, made);
  return made;
}

async function connected(ctx: Context, hostId: string): Promise<HostClient> {
  const standing = await hostStanding(ctx, hostId);
  if (standing.is === 'gone') throw gone();
  if (standing.is === 'away') throw away();
  const { tls, clients } = links(ctx);
  // Its own connections a process asks without a way through the network.
  const place = standing.processId === ctx.processId ? relaySocket(ctx) : standing.place;
  const known = clients.get(hostId);
  if (known?.place === place) return known.client;
  const address = place.startsWith('/') ? null : parseAddress(place);
  const target = address && tls ? { ...address, tls } : { socketPath: place };
  const client = createHostClient({ ...target, prefix: `/${hostId}` });
  known?.client.close();
  clients.set(hostId, { place, client });
  return client;
}

function hostClient(ctx: Context, hostId: string): HostClient {
  return new Proxy({} as HostClient, {
    get(_, name: keyof HostClient) {
      if (name === 'close') return () => {};
      if (name === 'journal')
        return async function* (...args: Parameters<HostClient['journal']>) {
          yield* (await connected(ctx, hostId)).journal(...args);
        };
      return async (...args: unknown[]) => {
        const client = await connected(ctx, hostId);
        return (client[name] as (...args: unknown[]) => Promise<unknown>).apply(client, args);
      };
    },
  });
}
