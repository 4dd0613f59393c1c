/** Commits events with the service's own code in this process: several writers, whose transactions overlap and may fail. */
import pino from 'pino';
import { openBus } from '../../../packages/server/src/bus.ts';
import { openDatabase } from '../../../packages/server/src/db/database.ts';
import { appendEvent, transaction } from '../../../packages/server/src/db/transaction.ts';
import { newId } from '../../../packages/server/src/ids.ts';
import type { Random } from '../../harness/random.ts';
import type { Setup } from './part.ts';

const WRITERS = 4;
const MOST_IN_ONE = 6;
const ROLLED_BACK = 0.05;

interface Drawn {
  at: Parameters<typeof appendEvent>[1];
  type: string;
  data: Record<string, unknown>;
}

interface Committing {
  random: Random;
  total: number;
  draw(random: Random): Drawn;
  /** Awaited before each event. */
  step?(): Promise<void>;
}

class RolledBack extends Error {}

/** Resolves with the ids of committed events: fewer than `total`, since some transactions are rolled back. */
export async function commitAll(
  setup: Setup,
  url: string,
  { random, total, draw, step }: Committing,
): Promise<Set<string>> {
  const database = openDatabase({ connectionString: url }, { max: WRITERS });
  const bus = await openBus(database.connection, newId('wrk'), pino({ level: 'silent' }));
  const committed = new Set<string>();
  let begun = 0;
  const writer = async (random: Random) => {
    while (begun < total) {
      setup.signal.throwIfAborted();
      const count = Math.min(1 + random.below(MOST_IN_ONE), total - begun);
      begun += count;
      for (let i = 0; i < count; i++) await step?.();
      const ids = await transaction({ db: database.db, bus }, async (tx) => {
        const made = Array.from({ length: count }, () => {
          const { at, type, data } = draw(random);
          return appendEvent(tx, at, type, data);
        });
        if (random.next() < ROLLED_BACK) throw new RolledBack();
        return made;
      }).catch((error: unknown) => {
        if (error instanceof RolledBack) return [];
        throw error;
      });
      for (const id of ids) committed.add(id);
    }
  };
  try {
    await Promise.all(Array.from({ length: WRITERS }, (_, n) => writer(random.fork(`writer ${n}`))));
  } finally {
    await bus.close();
    await database.close();
  }
  return committed;
}
