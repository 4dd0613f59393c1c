import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { PUBLISHER_LOCK } from '../db/advisory-locks.ts';
import { within } from '../deadline.ts';
import { listRunners } from '../runner/store.ts';
import { StorageRefusesError } from '../storage/object-store.ts';
import type { ProcessRow } from './read-processes.ts';

const LIMIT_MS = 3_000;
/** Events are published within milliseconds: behind by this long, something is wrong. */
const LATE_MS = 10_000;

interface Part {
  name: 'database' | 'storage' | 'sandbox' | 'limiter' | 'publisher' | 'gateway';
  status: 'ok' | 'degraded' | 'down';
  message: string | null;
}

/** How the parts of the deployment are, each with what is wrong with it. */
export async function readParts(
  ctx: Context,
  processes: readonly ProcessRow[],
  lagMs: number,
): Promise<Part[]> {
  const [database, storage, limiter, publisher] = await Promise.all([
    isWorking(sql`select 1`.execute(ctx.db)),
    storageFault(ctx),
    isWorking(ctx.limits.probe()),
    hasPublisher(ctx),
  ]);
  const workers = processes.filter((process) => process.is_alive && process.roles.includes('worker'));
  return [
    part('database', database ? null : 'The database does not answer in time.'),
    part('storage', storage),
    ctx.fleet ? fleetPart(workers, await listRunners(ctx.db)) : sandboxPart(workers),
    part('limiter', limiter ? null : 'The rate limiter cannot reach its table: limited requests get 503.'),
    publisherPart(publisher, lagMs),
    part('gateway', workers.length ? null : "No worker is alive: models' calls are not relayed."),
  ];
}

const part = (name: Part['name'], message: string | null): Part => ({
  name,
  status: message === null ? 'ok' : 'down',
  message,
});

const isWorking = (check: Promise<unknown>): Promise<boolean> =>
  within(LIMIT_MS, check).then(
    () => true,
    () => false,
  );

async function storageFault({ store }: Context): Promise<string | null> {
  try {
    await within(LIMIT_MS, store.probe());
    return null;
  } catch (error) {
    return error instanceof StorageRefusesError
      ? error.message
      : "Objects cannot be written: see the service's log.";
  }
}

/** Whether a process holds the publisher's lock. */
async function hasPublisher({ db }: Context): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks where locktype = 'advisory' and granted and objsubid = 1 and (classid::bigint << 32 | objid::bigint) = ${PUBLISHER_LOCK}::bigint
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows.length > 0;
}

function sandboxPart(workers: readonly ProcessRow[]): Part {
  const broken = workers.filter((worker) => !worker.runner?.ok);
  if (workers.length > broken.length)
    return broken.length === 0
      ? part('sandbox', null)
      : {
          name: 'sandbox',
          status: 'degraded',
          message: `No sandbox can be made on ${broken.map((worker) => worker.host).join(', ')}.`,
        };
  const reasons = broken.flatMap((worker) => worker.runner?.warnings ?? ['no runner answers']);
  return part(
    'sandbox',
    workers.length === 0
      ? 'No worker is alive: new work is refused.'
      : `No sandbox can be made: ${[...new Set(reasons)].join('; ')}.`,
  );
}

function fleetPart(workers: readonly ProcessRow[], runners: Awaited<ReturnType<typeof listRunners>>): Part {
  if (workers.length === 0) return sandboxPart(workers);
  const sound = runners.filter((runner) => runner.state === 'ready' && runner.is_ok);
  const broken = runners.filter((runner) => !sound.includes(runner));
  if (sound.length === 0)
    return part('sandbox', 'No runner that can make sandboxes reports: new work is refused.');
  if (broken.length === 0) return part('sandbox', null);
  return {
    name: 'sandbox',
    status: 'degraded',
    message: `No sandbox can be made on ${broken.map(({ name, status }) => [name, ...status.missing].join(': ')).join(', ')}.`,
  };
}

function publisherPart(isHeld: boolean, lagMs: number): Part {
  if (!isHeld) return part('publisher', 'No process publishes events.');
  if (lagMs < LATE_MS) return part('publisher', null);
  return {
    name: 'publisher',
    status: 'degraded',
    message: `Events are published ${Math.round(lagMs / 1000)} s late.`,
  };
}
