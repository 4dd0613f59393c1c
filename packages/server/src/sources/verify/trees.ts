/**
 * Reads the files of a project's sources for verification: a fault on the way is reported at its manifest.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Tree } from '../../trees/tree.ts';
import { applyDelta, decodeManifest } from '../../trees/manifest.ts';

/** About 200 bytes an entry; versions of one project share most of them. */
const MAX_ENTRIES = 300_000;
/** Far beyond what is written: a longer chain is a circle. */
const MAX_CHAIN = 200;
const PAGE = 1_000;

/** A source's manifest cannot be read. */
export class ManifestFault extends Error {
  override readonly name = 'ManifestFault';
}

export class SourceTrees {
  readonly #db: Db;
  readonly #projectId: string;
  readonly #trees = new Map<string, Tree>();
  readonly #faults = new Map<string, ManifestFault>();
  #entries = 0;

  constructor(db: Db, projectId: string) {
    this.#db = db;
    this.#projectId = projectId;
  }

  /** Throws `ManifestFault` where its manifest, or one that it builds on, is damaged. */
  async treeOf(id: string, depth = 0): Promise<Tree> {
    const known = this.#trees.get(id);
    if (known) return known;
    const fault = this.#faults.get(id);
    if (fault) throw fault;
    try {
      const tree = await this.#read(id, depth);
      this.#keep(id, tree);
      return tree;
    } catch (error) {
      if (error instanceof ManifestFault) this.#faults.set(id, error);
      throw error;
    }
  }

  async #read(id: string, depth: number): Promise<Tree> {
    if (depth > MAX_CHAIN) throw new ManifestFault('The chain of manifests that it builds on does not end.');
    const row = await this.#db
      .selectFrom('sources')
      .select(['manifest', 'manifest_base'])
      .where('project_id', '=', this.#projectId)
      .where('id', '=', id)
      .executeTakeFirst();
    if (!row) throw new ManifestFault('It is not in the database.');
    const base =
      row.manifest_base === null
        ? null
        : await this.treeOf(row.manifest_base, depth + 1).catch((error: unknown) => {
            throw inBase(error, row.manifest_base!);
          });
    try {
      return base === null ? decodeManifest(row.manifest) : applyDelta(base, row.manifest);
    } catch (error) {
      throw new ManifestFault(`Its manifest cannot be read: ${(error as Error).message}.`);
    }
  }

  /** The oldest go first. */
  #keep(id: string, tree: Tree): void {
    this.#trees.set(id, tree);
    this.#entries += tree.size;
    for (const [oldest, { size }] of this.#trees) {
      if (this.#entries <= MAX_ENTRIES || oldest === id) break;
      this.#trees.delete(oldest);
      this.#entries -= size;
    }
  }
}

const IN_BASE = 'It builds on the manifest of ';

function inBase(error: unknown, base: string): unknown {
  if (!(error instanceof ManifestFault) || error.message.startsWith(IN_BASE)) return error;
  return new ManifestFault(`${IN_BASE}${base}, which is damaged or missing.`);
}

/** Ids of the project's sources, oldest first: what one builds on comes before it. */
export async function sourceIds(db: Db, projectId: string): Promise<string[]> {
  const ids: string[] = [];
  for (let after = ''; ;) {
    const { rows } = await sql<{
      id: string;
    }>`select id from sources where project_id = ${projectId} and id > ${after} order by id limit ${PAGE}`.execute(
      db,
    );
    for (const { id } of rows) ids.push(id);
    if (rows.length < PAGE) return ids;
    after = rows.at(-1)!.id;
  }
}
