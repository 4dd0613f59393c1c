/**
 * A backup is a folder: `backup.json`, written last, `tables/<name>.copy.zst` (COPY's text format), `objects/`
 * as the store names them, `repositories/` as the data folder has them, and the secret keys.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import type { Static } from 'typebox';
import { compile } from '../http/validate.ts';

export const FORMAT = 1;
const NAME = '^[a-z][a-z0-9_]{0,62}$';

export type TableDump = Static<typeof TableDump>;
const TableDump = Type.Object({
  name: Type.String({ pattern: NAME }),
  columns: Type.Array(Type.String({ pattern: NAME }), { minItems: 1 }),
  rows: Type.Integer(),
  /** Of the compressed file. */
  sha256: Type.String(),
});

export type Manifest = Static<typeof Manifest>;
const Manifest = Type.Object({
  format: Type.Literal(FORMAT),
  /** The version of Headrace that wrote it. */
  version: Type.String(),
  /** The newest migration of its database. */
  schema: Type.Integer(),
  /** Every write that was acknowledged before `at` is in the backup. */
  point: Type.Object({ at: Type.String(), sequence: Type.Integer(), generation: Type.Integer() }),
  tables: Type.Array(TableDump),
  /** Days of the log, as the names of their partitions. */
  partitions: Type.Array(Type.String({ pattern: '^events_\\d{8}$' })),
  /** The last value that each identity column gave. */
  identities: Type.Array(
    Type.Object({
      table: Type.String({ pattern: NAME }),
      column: Type.String({ pattern: NAME }),
      last: Type.Integer(),
    }),
  ),
  objects: Type.Object({
    count: Type.Integer(),
    bytes: Type.Integer(),
    /** Objects that the database needs and the store did not have, at most 1,000. */
    missing: Type.Array(Type.String()),
  }),
  /** Older versions had none. */
  repositories: Type.Optional(
    Type.Object({
      copied: Type.Array(
        Type.Object({ id: Type.String({ pattern: '^repo_[0-9a-z]+$' }), defaultBranch: Type.String() }),
      ),
      /** Those that could not be copied whole, at most 1,000. */
      damaged: Type.Array(Type.String()),
    }),
  ),
});
const faultsOf = compile(Manifest, 'body');

export const tableFile = (folder: string, table: string) => join(folder, 'tables', `${table}.copy.zst`);
export const objectsFolder = (folder: string) => join(folder, 'objects');
export const manifestFile = (folder: string) => join(folder, 'backup.json');

/** Throws an error for the operator where the folder holds no whole backup that this version reads. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(manifestFile(folder), 'utf8').catch((error: Error) => {
    throw new Error(`${folder} holds no whole backup: ${error.message}`, { cause: error });
  });
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    manifest = null;
  }
  if (faultsOf(manifest).length > 0)
    throw new Error(`${manifestFile(folder)} is not of this version's format`);
  return manifest as Manifest;
}
