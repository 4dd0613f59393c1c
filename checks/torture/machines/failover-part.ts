/**
 * The primary of a replicated PostgreSQL killed during writes, and its standby promoted: a synchronous one, which has
 * all that was answered, and an asynchronous one, which has lost the end of the log. Two processes of the service, with
 * three connections each in their pools, are not touched: they have to answer all along.
 *
 * Seen to fail: a publisher that does not compare the timeline (a cursor from before the failover goes on, and skips),
 * a checker that trusts the server's age (it removes the living workers).
 */
import { join } from 'node:path';
import { startReplicated } from '../../../packages/server/src/db/replicated.fixture.ts';
import type { Replicated } from '../../../packages/server/src/db/replicated.fixture.ts';
import type { Service } from '../../harness/service.ts';
import { newWeather } from '../lib/delivery.ts';
import type { Part, PartResult, Setup } from '../lib/part.ts';
import { makeWorld } from '../log/world.ts';
import { failovers } from './failovers.ts';

/** Without a primary, so that heartbeats are old; it does not count as time until the service is ready. */
const AWAY_MS = 4_000;
const SECRET = 'a secret of the torture, of 32 characters';

export const failoverPart: Part = {
  name: 'failover',
  title:
    'No acknowledged write is lost when a synchronous standby is promoted, and none is skipped after any failover',
  seconds: 200,
  async run(setup) {
    const database = await startReplicated(join(setup.scratch, 'replicated'));
    setup.atEnd(() => database.stop());
    await database.setSynchronous(true);
    const services = await startServices(setup, database);
    const failures: string[] = [];
    const stage = {
      setup,
      database,
      callers: services,
      world: await makeWorld(services[0]!),
      weather: newWeather(),
      failures,
      failOver: () => database.failOver(AWAY_MS),
    };
    const counts = { synchronous: setup.count(20, 1), asynchronous: setup.count(5, 1) };
    const { line, figures } = await failovers(stage, counts);
    failures.push(
      ...services.flatMap((service) => (service.isUp() ? [] : [`a process ended: ${service.said()}`])),
    );
    return { line, figures, failures } satisfies PartResult;
  },
};

async function startServices(setup: Setup, database: Replicated): Promise<Service[]> {
  const env = {
    DATABASE_URL: database.url,
    HEADRACE_SECRET_KEY: SECRET,
    HEADRACE_DATABASE_CONNECTIONS: '3',
  };
  const first = await setup.start({ env });
  return [first, await setup.start({ env, dataDir: first.dataDir, key: first.key })];
}
