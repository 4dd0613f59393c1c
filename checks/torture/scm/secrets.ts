/** Looks for secrets where none may be: command lines while the service works, and all that it leaves behind. */
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import type { Setup } from '../lib/part.ts';

const LOOK_MS = 25;

export interface Watch {
  /** Names and command lines that had a secret, each once. */
  stop(): string[];
}

/** What a secret looks like where somebody wrote it down: itself, or within a Basic credential. */
const formsOf = (secret: string): string[] => [
  secret,
  ...['', 'x-access-token:', 'headrace:'].map((user) =>
    Buffer.from(user + secret)
      .toString('base64')
      .replace(/=+$/, '')
      .slice(0, -2),
  ),
];

/** Reads the command line of every process of the machine, again and again. */
export function watchCommandLines({ atEnd }: Setup, secrets: Record<string, string>): Watch {
  const found = new Set<string>();
  const forms = Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).map((form): [string, string] => [name, form]),
  );
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      const line = readOrNothing(`/proc/${pid}/cmdline`);
      for (const [name, form] of forms)
        if (line.includes(form)) found.add(`${name} is on a command line: ${line.split('\0')[0]}`);
    }
  }, LOOK_MS);
  atEnd(() => clearInterval(timer));
  return {
    stop() {
      clearInterval(timer);
      return [...found];
    },
  };
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** Files at or below `folders` and rows of the database that hold a secret. */
export async function findSecrets(
  table: pg.Client,
  folders: readonly string[],
  secrets: Record<string, string>,
): Promise<string[]> {
  const found: string[] = [];
  for (const [name, secret] of Object.entries(secrets)) {
    const forms = formsOf(secret);
    for (const folder of folders) {
      for (const file of filesBelow(folder))
        if (await holds(file, forms)) found.push(`${name} is in the file ${file}`);
    }
    for (const one of await tablesWith(table, forms)) found.push(`${name} is in the table ${one}`);
  }
  return found;
}

function filesBelow(place: string): string[] {
  if (!statSync(place).isDirectory()) return [place];
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

async function holds(file: string, forms: readonly string[]): Promise<boolean> {
  const longest = Math.max(...forms.map((form) => form.length));
  let rest = '';
  try {
    for await (const part of createReadStream(file, { encoding: 'latin1' })) {
      const text = rest + (part as string);
      if (forms.some((form) => text.includes(form))) return true;
      rest = text.slice(-longest);
    }
  } catch {
    // Gone meanwhile.
  }
  return false;
}

/** Texts, and bytes as they are shown: in hex. */
async function tablesWith(table: pg.Client, forms: readonly string[]): Promise<string[]> {
  const { rows } = await table.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
  );
  const patterns = forms
    .flatMap((form) => [form, Buffer.from(form).toString('hex')])
    .map((form) => `%${form}%`);
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await table.query(`select from ${name} t where t::text like any ($1) limit 1`, [
      patterns,
    ]);
    if (rowCount) found.push(name);
  }
  return found;
}
