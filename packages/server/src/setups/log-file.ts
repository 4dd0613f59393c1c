import type { Db } from '../db/database.ts';
import { readLog } from '../logs/index.ts';
import { findSetup } from './store.ts';

const BYTES = 64 * 1024;
const PATH = '.hoplite/setup.log';

/** The end of a setup's log, as the file that agents find; the secrets in it were masked before it was stored. */
export async function setupLogFile(
  db: Db,
  setupId: string,
): Promise<{ path: string; content: string } | undefined> {
  const setup = await findSetup(db, setupId);
  if (!setup) return undefined;
  const from = Math.max(0, setup.logs_byte_size - BYTES);
  const { text } = await readLog(db, { kind: 'setup', ...setup }, from);
  return { path: PATH, content: text };
}
