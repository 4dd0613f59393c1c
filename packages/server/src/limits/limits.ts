/** A process's limiters: one store, one bus, one clock. */
import type { Logger } from 'pino';
import type { Bus } from '../bus.ts';
import { DatabaseClock, Limiter } from './limiter.ts';
import type { Shared } from './limiter.ts';
import type { WindowStore } from './store.ts';

export interface Limits {
  /** The limiter of that name (no spaces in it); its windows are apart from those of other names. */
  limiter(name: string, limit: number, windowSeconds: number): Limiter;
  /** Resolves where the store answers. */
  probe(): Promise<void>;
  /** Gives back what this process holds unused, as far as that goes in a second. */
  close(): Promise<void>;
}

const SWEEP_MS = 30_000;
const CLOSE_MS = 1_000;

/** `holder` names this process. */
export function openLimits(store: WindowStore, bus: Bus, holder: string, log: Pick<Logger, 'warn'>): Limits {
  const limiters = new Map<string, Limiter>();
  const renew: WindowStore['renew'] = (...asked) =>
    store.renew(...asked).catch((error: unknown) => {
      log.warn({ err: error }, "the rate limiter's store does not answer");
      throw error;
    });
  const shared: Shared = {
    store: { ...store, renew },
    bus,
    holder,
    clock: new DatabaseClock(),
    failedAt: -Infinity,
  };

  const unlisten = bus.listen('limits', (message) => {
    const [kind, name, ...bucket] = message.split(' ');
    const limiter = limiters.get(name!);
    if (kind === 'returned') limiter?.heard(bucket.join(' '));
    else void limiter?.surrender(bucket.join(' '));
  });
  const sweeping = setInterval(() => {
    for (const limiter of limiters.values()) limiter.sweep();
    store.purge().catch(() => {});
  }, SWEEP_MS).unref();

  return {
    limiter(name, limit, windowSeconds) {
      const limiter = limiters.get(name) ?? new Limiter(shared, name, limit, windowSeconds);
      limiters.set(name, limiter);
      return limiter;
    },
    probe: () => store.purge(),
    async close() {
      clearInterval(sweeping);
      unlisten();
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      });
      await Promise.race([
        Promise.all([...limiters.values()].map((limiter) => limiter.surrenderAll())),
        patience,
      ]);
      clearTimeout(timer);
      await store.close();
    },
  };
}
