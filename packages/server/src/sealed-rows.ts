/** What rooms keep sealed, in batches, so that a changed secret key can seal it again. */
import type { Db } from './db/database.ts';

export interface SealedRow {
  /** Names the row; batches are in its order. */
  id: string;
  /** What it is sealed for. */
  place: string;
  sealed: Buffer;
}

export interface SealedRows {
  /** For a person, in the plural. */
  what: string;
  purpose: string;
  /** The next rows behind this id. */
  read(db: Db, after: string, limit: number): Promise<SealedRow[]>;
  /** Replaces what was read; without effect where it was changed since. */
  write(db: Db, row: SealedRow, sealed: Buffer): Promise<void>;
}
