/**
 * The runners that register at workers, as this process knows them. A row of their table decides what each is:
 *
 *   ready     reports every 3 s                          takes new work
 *   suspect   was silent for 10 s                        takes none; what it has goes on
 *   lost      was silent for 30 s                        its runs have failed, its workspaces are made elsewhere
 *   gone      was silent for 210 s, which is its lease   its builds have failed: nothing of it lives
 *             and 30 s more, or has left
 *
 * A report makes it ready again, unless it is gone. Whatever works at a runner looks at its row every second.
 */
import { createRunnerClient } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import { parseAddress } from '@headrace/runner/tls';
import type { TlsCredentials } from '@headrace/runner/tls';
import type { RunnerStatus } from '@headrace/runner/protocol';
import type { Logger } from 'pino';
import type { Db } from '../db/database.ts';
import { every } from '../jobs/every.ts';
import type { Loop } from '../jobs/every.ts';
import { guardedClient } from './guarded-client.ts';
import { findRunners } from './store.ts';
import type { KnownRunner } from './store.ts';

const LOOK_MS = 1_000;
/** What nothing has asked of for so long is looked at no longer: longer than the longest task. */
const KEPT_MS = 25 * 60 * 60_000;

/** One of the runners, for work there. */
export interface AtRunner {
  id: string;
  client: RunnerClient;
  /** What it reported last; null where it is gone and forgotten. */
  status(): RunnerStatus | null;
  state(): KnownRunner['state'];
  isDraining(): boolean;
}

interface Known {
  row: KnownRunner | null;
  /** Made at the first look that finds its row. */
  raw: RunnerClient | null;
  lost: AbortController;
  lookedAt: number;
  askedAt: number;
  at: AtRunner;
}

interface FleetOptions {
  db: Db;
  log: Logger;
  /** Where this process places work. */
  pool: string;
  connect: (address: string) => RunnerClient;
}

export class Fleet {
  readonly pool: string;
  readonly #options: FleetOptions;
  readonly #known = new Map<string, Known>();
  readonly #looking: Loop;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.pool = options.pool;
    this.#looking = every(LOOK_MS, () => this.#look(), {
      onFailure: (err) => options.log.debug({ err }, 'runners were not looked at'),
    });
  }

  async close(): Promise<void> {
    await this.#looking.stop();
    for (const [id] of this.#known) this.#drop(id);
  }

  /** The runner that a row names. One that is unknown is gone. */
  async find(id: string): Promise<AtRunner> {
    const known = this.#known.get(id) ?? this.#add(id);
    known.askedAt = performance.now();
    if (performance.now() - known.lookedAt > LOOK_MS) await this.#lookAt([id]);
    return known.at;
  }

  /** As find, by a row that is read now. */
  async findNow(id: string): Promise<AtRunner> {
    const { at } = this.#known.get(id) ?? this.#add(id);
    await this.#lookAt([id]);
    return at;
  }

  #add(id: string): Known {
    const connected = () => {
      if (!known.row) throw new Error(`no address of ${id} is known`);
      known.raw ??= this.#options.connect(known.row.address);
      return known.raw;
    };
    const guard = () => {
      known.askedAt = performance.now();
      const state = known.row?.state ?? 'gone';
      const standing = state === 'gone' || state === 'lost' ? state : ('here' as const);
      return { standing, signal: known.lost.signal };
    };
    const known: Known = {
      row: null,
      raw: null,
      lost: new AbortController(),
      lookedAt: -Infinity,
      askedAt: performance.now(),
      at: {
        id,
        client: guardedClient(connected, guard),
        status: () => known.row && { ...known.row.status, id },
        state: () => known.row?.state ?? 'gone',
        isDraining: () => known.row?.is_draining ?? false,
      },
    };
    this.#known.set(id, known);
    return known;
  }

  async #look(): Promise<void> {
    const now = performance.now();
    for (const [id, known] of this.#known) if (now - known.askedAt > KEPT_MS) this.#drop(id);
    await this.#lookAt([...this.#known.keys()]);
  }

  async #lookAt(ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    const rows = new Map((await findRunners(this.#options.db, ids)).map((row) => [row.boot_id, row]));
    for (const id of ids) {
      const known = this.#known.get(id);
      if (known) take(known, rows.get(id) ?? null);
    }
  }

  #drop(id: string): void {
    this.#known.get(id)?.raw?.close();
    this.#known.delete(id);
  }
}

/** Takes over what a row says now. One that was lost and reports again has new calls, and none of the old ones. */
function take(known: Known, row: KnownRunner | null): void {
  const isCallable = row !== null && (row.state === 'ready' || row.state === 'suspect');
  if (!isCallable) known.lost.abort();
  else if (known.lost.signal.aborted) known.lost = new AbortController();
  known.row = row;
  known.lookedAt = performance.now();
}

/** Connects to runners by mTLS. */
export const connectOver =
  (tls: TlsCredentials) =>
  (address: string): RunnerClient => {
    const parsed = parseAddress(address);
    if (!parsed) throw new Error(`a runner's address is not host:port: ${address}`);
    return createRunnerClient({ ...parsed, tls });
  };
