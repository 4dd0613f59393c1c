/** Seals again with the current secret key what former ones sealed, while the service runs. */
import { sql } from 'kysely';
import { sealedAutomationSecrets } from './automations/index.ts';
import { SECRET_KEY_LOCK } from './db/advisory-locks.ts';
import type { Db } from './db/database.ts';
import { sealedVariables } from './environment/index.ts';
import { sealedMcpSecrets } from './mcp-servers/index.ts';
import { sealedAnswers } from './receipts/store.ts';
import { sealedCredentials, sealedWebhookSecrets } from './scm/index.ts';
import type { SealedRows } from './sealed-rows.ts';
import { keyNumber, reseal } from './sealing.ts';
import { sealedModelKeys } from './usage/index.ts';
import { sealedSubscriptionSecrets } from './webhooks/index.ts';

const ALL: SealedRows[] = [
  sealedModelKeys,
  sealedMcpSecrets,
  sealedVariables,
  sealedCredentials,
  sealedWebhookSecrets,
  ...sealedSubscriptionSecrets,
  ...sealedAutomationSecrets,
  sealedAnswers,
];
const BATCH = 200;
const MAX_LISTED = 1_000;

interface Rotated {
  what: string;
  /** Sealed with the current key before. */
  current: number;
  resealed: number;
  /** Rows that no known key opens, at most 1,000 of them. */
  unreadable: string[];
}

/** Processes that seal with another secret key than this one. */
export async function countOthers(db: Db, secretKey: Buffer): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct pid) as count from pg_locks
    where locktype = 'advisory' and classid = ${SECRET_KEY_LOCK} and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database())
      and objid <> ${keyNumber(secretKey) >>> 0}`.execute(db);
  return rows[0]!.count;
}

export async function rotateSecrets(db: Db, secretKey: Buffer): Promise<Rotated[]> {
  const all: Rotated[] = [];
  for (const rows of ALL) all.push(await rotate(db, secretKey, rows));
  return all;
}

async function rotate(db: Db, secretKey: Buffer, rows: SealedRows): Promise<Rotated> {
  const rotated: Rotated = { what: rows.what, current: 0, resealed: 0, unreadable: [] };
  for (let after = ''; ;) {
    const batch = await rows.read(db, after, BATCH);
    for (const row of batch) {
      try {
        const sealed = reseal(secretKey, rows.purpose, row.place, row.sealed);
        if (sealed) await rows.write(db, row, sealed);
        rotated[sealed ? 'resealed' : 'current']++;
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        if (rotated.unreadable.length < MAX_LISTED) rotated.unreadable.push(row.id);
      }
    }
    if (batch.length < BATCH) return rotated;
    after = batch.at(-1)!.id;
  }
}

/** What AES-GCM throws where key or place is another. */
const isUnreadable = (error: unknown): boolean =>
  /unable to authenticate data/.test((error as Error).message);
