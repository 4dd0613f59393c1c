/**
 * Where the rows say that a project's contents are, and whether the packs' indexes say so too. 36 bytes a
 * content.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { decodeIndex } from '../../trees/pack.ts';
import type { PackIndex } from '../../trees/pack.ts';
import { findPacks } from '../store.ts';

const PAGE = 20_000;
const PACKS_PAGE = 20;
const SHA_BYTES = 32;
/** Rows that name a pack that has not the content. */
const NOWHERE = 0xff_ff_ff_ff;

/** Bytes of each content that lies where its row says, or null. */
export interface Placements {
  count: number;
  /** Undefined: no row. Null: the row's pack has it not. */
  lengthOf(sha256: string): number | null | undefined;
  /** Contents whose row's pack has them not. */
  misplaced(): Generator<string>;
}

/**
 * Rows and indexes as they were at one time, whatever is repacked meanwhile. An index that cannot be read
 * places nothing.
 */
export async function readPlacements(db: Db, projectId: string): Promise<Placements> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const packs = new Map<string, number>();
      const table = await readRows(tx, projectId, packs);
      await placeAll(tx, projectId, packs, table);
      return table;
    });
}

async function readRows(db: Db, projectId: string, packs: Map<string, number>): Promise<Table> {
  const pages: { hashes: Buffer; packs: Uint32Array }[] = [];
  for (let after: Buffer = Buffer.alloc(0); ;) {
    const { rows } = await sql<{ sha256: Buffer; pack_id: string }>`
      select sha256, pack_id from blobs where project_id = ${projectId} and sha256 > ${after} order by sha256 limit ${PAGE}`.execute(
      db,
    );
    pages.push({
      hashes: Buffer.concat(rows.map((r) => r.sha256)),
      packs: Uint32Array.from(rows, (r) => numberOf(packs, r.pack_id)),
    });
    if (rows.length < PAGE)
      return new Table(
        Buffer.concat(pages.map((p) => p.hashes)),
        Uint32Array.from(pages.flatMap((p) => [...p.packs])),
      );
    after = rows.at(-1)!.sha256;
  }
}

function numberOf(packs: Map<string, number>, id: string): number {
  const known = packs.get(id) ?? packs.size;
  packs.set(id, known);
  return known;
}

async function placeAll(
  db: Db,
  projectId: string,
  packs: ReadonlyMap<string, number>,
  table: Table,
): Promise<void> {
  for (let after = ''; ;) {
    const rows = await db
      .selectFrom('packs')
      .select(['id', 'index'])
      .where('project_id', '=', projectId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(PACKS_PAGE)
      .execute();
    for (const { id, index } of rows) {
      const pack = packs.get(id);
      if (pack === undefined) continue;
      for (const [sha256, { length }] of indexOrNull(index)?.blobs ?? []) table.place(sha256, pack, length);
    }
    if (rows.length < PACKS_PAGE) return;
    after = rows.at(-1)!.id;
  }
}

/** Sorted by hash. */
class Table implements Placements {
  readonly #hashes: Buffer;
  readonly #packs: Uint32Array;
  readonly #lengths: Uint32Array;

  constructor(hashes: Buffer, packs: Uint32Array) {
    this.#hashes = hashes;
    this.#packs = packs;
    this.#lengths = new Uint32Array(packs.length).fill(NOWHERE);
  }

  get count(): number {
    return this.#packs.length;
  }

  place(sha256: string, pack: number, length: number): void {
    const row = this.#rowOf(sha256);
    if (row !== null && this.#packs[row] === pack) this.#lengths[row] = length;
  }

  lengthOf(sha256: string): number | null | undefined {
    const row = this.#rowOf(sha256);
    if (row === null) return undefined;
    return this.#lengths[row] === NOWHERE ? null : this.#lengths[row]!;
  }

  *misplaced(): Generator<string> {
    for (const [row, length] of this.#lengths.entries())
      if (length === NOWHERE) yield this.#hashes.toString('hex', row * SHA_BYTES, (row + 1) * SHA_BYTES);
  }

  #rowOf(sha256: string): number | null {
    const wanted = Buffer.from(sha256, 'hex');
    for (let from = 0, to = this.count; from < to;) {
      const middle = (from + to) >>> 1;
      const order = this.#hashes.compare(wanted, 0, SHA_BYTES, middle * SHA_BYTES, (middle + 1) * SHA_BYTES);
      if (order === 0) return middle;
      if (order < 0) from = middle + 1;
      else to = middle;
    }
    return null;
  }
}

/**
 * Where each of these contents is now, where it has a row: the pack that the row names, and whether that
 * pack is the project's and has it. At most some thousand.
 */
export async function findPlaces(
  db: Db,
  projectId: string,
  sha256s: readonly string[],
): Promise<Map<string, { packId: string; isThere: boolean }>> {
  const places = new Map<string, { packId: string; isThere: boolean }>();
  for (const { id, sha256s: held } of await findPacks(db, projectId, sha256s)) {
    const row = await db
      .selectFrom('packs')
      .select('index')
      .where('id', '=', id)
      .where('project_id', '=', projectId)
      .executeTakeFirst();
    const index = row && indexOrNull(row.index);
    for (const sha256 of held) places.set(sha256, { packId: id, isThere: index?.blobs.has(sha256) ?? false });
  }
  return places;
}

function indexOrNull(bytes: Buffer): PackIndex | null {
  try {
    return decodeIndex(bytes);
  } catch {
    return null;
  }
}
