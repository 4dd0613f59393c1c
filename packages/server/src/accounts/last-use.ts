/**
 * When keys and sessions were used last, exact to a minute. A use costs a look into a map; each minute of use
 * costs one write for each key, together with those of all other keys in one statement.
 */
import type { Context } from '../context.ts';
import type { AccessName } from './access.ts';
import { markUsed } from './store.ts';

const MINUTE_MS = 60_000;
const DELAY_MS = 5_000;

export class LastUse {
  readonly #ctx: Pick<Context, 'db' | 'log'>;
  /** The minute that `#noted` is about. */
  #minute = 0;
  readonly #noted = new Set<AccessName>();
  /** Not written yet: the minute of each. */
  #due = new Map<AccessName, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ctx: Pick<Context, 'db' | 'log'>) {
    this.#ctx = ctx;
  }

  note(name: AccessName): void {
    const minute = Math.floor(Date.now() / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#noted.clear();
    }
    if (this.#noted.has(name)) return;
    this.#noted.add(name);
    this.#due.set(name, minute);
    this.#timer ??= setTimeout(() => void this.flush(), DELAY_MS).unref();
  }

  /** Writes what is due. What fails is lost: the next minute's use writes again. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const due = [...this.#due];
    this.#due.clear();
    const of = (kind: string) =>
      due
        .filter(([name]) => name.startsWith(kind))
        .map(([name, minute]) => ({ name: name.slice(kind.length), at: new Date(minute * MINUTE_MS) }));
    try {
      await markUsed(this.#ctx.db, { credentials: of('key '), sessions: of('session ') });
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'the last use of keys and sessions could not be written');
    }
  }
}
