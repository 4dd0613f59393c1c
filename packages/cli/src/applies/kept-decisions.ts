/**
 * Decisions of a person who left before they were sent, a file for each thread. They count for the sides that they were
 * made for, whatever head or draft is there later.
 */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, readJsonFile, stateFolder, writePrivateJson } from '../config/files.ts';
import type { Cli } from '../core/cli.ts';
import type { KeptDecision } from './decisions.ts';

const KEPT_MS = 30 * 86_400_000;

interface Kept {
  at: string;
  decisions: KeptDecision[];
}

export interface KeptDecisions {
  read(): Kept | undefined;
  write(decisions: readonly KeptDecision[]): void;
  drop(): void;
}

export function keptDecisions(cli: Cli, threadId: string): KeptDecisions {
  const folder = join(stateFolder(cli.io), 'decisions');
  const name = createHash('sha256').update(`${cli.target.url} ${threadId}`).digest('hex').slice(0, 32);
  const path = join(folder, `${name}.json`);
  const drop = () => rmSync(path, { force: true });
  return {
    read() {
      const kept = readJsonFile(path);
      return isKept(kept) ? kept : undefined;
    },
    write(decisions) {
      if (decisions.length === 0) return drop();
      writePrivateJson(path, { at: new Date().toISOString(), decisions: [...decisions] } satisfies Kept);
      dropOld(folder);
    },
    drop,
  };
}

/** What something else has written there counts for nothing. */
const isKept = (value: unknown): value is Kept =>
  isRecord(value) &&
  typeof value.at === 'string' &&
  Array.isArray(value.decisions) &&
  value.decisions.every((one) => isRecord(one) && typeof one.path === 'string' && isDecision(one.decision));

const isDecision = (value: unknown): boolean =>
  value === 'agent' ||
  (isRecord(value) && (value.take === 'head' || value.take === 'draft' || isRecord(value.own)));

function dropOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const at = statSync(join(folder, name), { throwIfNoEntry: false });
    if (at && Date.now() - at.mtimeMs > KEPT_MS) rmSync(join(folder, name), { force: true });
  }
}
