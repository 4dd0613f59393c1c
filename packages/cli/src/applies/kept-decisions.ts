/**
 * Decisions of a person who left before they were sent, a file for each thread. They count for the sides that they were
 * made for, whatever head or draft is there later.
 */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, readJsonFile, stateFolder, writePrivateJson } from '../config/files.ts';
import type { Cli } from '../core/cli.ts';
import type { KeptDecision, OwnText } from './decisions.ts';

const KEPT_MS = 30 * 86_400_000;

interface Kept {
  at: string;
  decisions: KeptDecision[];
}

export interface KeptDecisions {
  read(): Kept | undefined;
  /** A home that cannot be written fails no command: it only keeps nothing. */
  write(decisions: readonly KeptDecision[]): void;
  drop(): void;
  /** Why the last ones are not kept; null if they are. */
  readonly unkept: string | null;
}

export function keptDecisions(cli: Cli, threadId: string): KeptDecisions {
  const folder = join(stateFolder(cli.io), 'decisions');
  const name = createHash('sha256').update(`${cli.target.url} ${threadId}`).digest('hex').slice(0, 32);
  const path = join(folder, `${name}.json`);
  let unkept: string | null = null;
  const tried = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      unkept = (error as Error).message;
      return undefined;
    }
  };
  const drop = () => tried(() => rmSync(path, { force: true }));
  return {
    read() {
      const kept = tried(() => readJsonFile(path));
      return isKept(kept) ? kept : undefined;
    },
    write(decisions) {
      unkept = null;
      if (decisions.length === 0) return drop();
      tried(() => {
        writePrivateJson(path, { at: new Date().toISOString(), decisions: [...decisions] } satisfies Kept);
        dropOld(folder);
      });
    },
    drop,
    get unkept() {
      return unkept;
    },
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
  (isRecord(value) && (value.take === 'head' || value.take === 'draft' || isOwnText(value.own)));

const FROM: ReadonlySet<unknown> = new Set([
  'both sides',
  'the editor',
  'a file',
] satisfies OwnText['from'][]);
const isOwnText = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value.content === 'string' &&
  (value.encoding === 'utf8' || value.encoding === 'base64') &&
  FROM.has(value.from);

function dropOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const at = statSync(join(folder, name), { throwIfNoEntry: false });
    if (at && Date.now() - at.mtimeMs > KEPT_MS) rmSync(join(folder, name), { force: true });
  }
}
