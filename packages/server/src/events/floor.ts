/**
 * The id up to which no row can appear in `outbox` any more. Without it each batch walks the index entries
 * of all rows that were published since the last vacuum (5,000 of them: 5 ms a batch, 75,000: 13 ms,
 * against 0.3), which an old snapshot, a dump's, keeps for hours.
 *
 *   (none) --look: the last id given, then who writes--> awaited --none of those writes any more--> settled
 *   --a whole batch--> the floor
 *
 * A writer locks `outbox` before its rows get their ids, and until they are visible. So every writer that has
 * an id up to the last one given, and whose rows are not visible yet, holds that lock just afterwards.
 */
import type { Client } from 'pg';

/** Between two looks: 500 ms of rows are walked in vain, at most. */
const LOOK_MS = 500;

const LAST_ID = 'select case when is_called then last_value else 0 end as id from outbox_id_seq';
const WRITERS = `
  select virtualtransaction as name from pg_locks
  where locktype = 'relation' and relation = 'outbox'::regclass and database = (select oid from pg_database where datname = current_database())
    and mode = 'RowExclusiveLock' and pid <> pg_backend_pid()`;

export class Floor {
  id = 0;
  readonly #lookMs: number;
  #lookedAt = -Infinity;
  #awaited: { id: number; writers: string[] } | null = null;
  #settled: number | null = null;

  constructor(lookMs = LOOK_MS) {
    this.#lookMs = lookMs;
  }

  /** Call it before a batch. */
  async look(client: Client): Promise<void> {
    if (performance.now() < this.#lookedAt + this.#lookMs) return;
    this.#lookedAt = performance.now();
    const last = this.#awaited
      ? null
      : (await client.query<{ id: number }>({ name: 'last-id', text: LAST_ID })).rows[0]!.id;
    const { rows } = await client.query<{ name: string }>({ name: 'writers', text: WRITERS });
    const now = new Set(rows.map((row) => row.name));
    this.#awaited ??= { id: last!, writers: [...now] };
    this.#awaited.writers = this.#awaited.writers.filter((name) => now.has(name));
    if (this.#awaited.writers.length) return;
    this.#settled = this.#awaited.id;
    this.#awaited = null;
  }

  /** Call it after a batch that took everything it saw. */
  rise(): void {
    this.id = Math.max(this.id, this.#settled ?? 0);
  }
}
