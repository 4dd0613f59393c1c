import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isServiceKey, makeServiceKey } from './accounts/index.ts';
import { ConfigError, readConfig } from './config.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'headrace-secrets-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileWith(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

const read = (env: Record<string, string>) => readConfig(env, isServiceKey);

function faultsOf(env: Record<string, string>): string[] {
  try {
    read(env);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).faults;
  }
}

test('each secret may come from a file, whose last newline is dropped', () => {
  const key = makeServiceKey();
  const config = read({
    DATABASE_URL_FILE: fileWith('url', 'postgres://pooled/x\n'),
    DATABASE_DIRECT_URL_FILE: fileWith('direct', 'postgres://direct/x\r\n'),
    HEADRACE_SECRET_KEY_FILE: fileWith('key', 's'.repeat(32)),
    HEADRACE_FORMER_SECRET_KEYS_FILE: fileWith('former', `${'f'.repeat(32)},${'g'.repeat(32)}\n`),
    HEADRACE_OWNER_PASSWORD_FILE: fileWith('password', ' with spaces \n'),
    HEADRACE_BOOTSTRAP_KEY_FILE: fileWith('bootstrap', `${key}\n`),
  });
  expect(config).toMatchObject({
    databaseUrl: 'postgres://pooled/x',
    databaseDirectUrl: 'postgres://direct/x',
    secretKey: 's'.repeat(32),
    formerSecretKeys: ['f'.repeat(32), 'g'.repeat(32)],
    ownerPassword: ' with spaces ',
    bootstrapKey: key,
  });
  const shown = config.settings.find(({ name }) => name === 'HEADRACE_SECRET_KEY_FILE');
  expect(shown?.value).toBe(join(folder, 'key'));
  expect(JSON.stringify(config.settings)).not.toMatch(/sss|fff/);
});

test('a variable and its file, a file that is missing or empty, and a wrong content are faults by name', () => {
  const short = fileWith('short', 'hidden');
  expect(
    faultsOf({
      DATABASE_URL: 'postgres://x/x',
      DATABASE_URL_FILE: fileWith('both', 'postgres://y/y'),
      HEADRACE_OWNER_PASSWORD_FILE: join(folder, 'none'),
      HEADRACE_BOOTSTRAP_KEY_FILE: fileWith('empty', '\n'),
      HEADRACE_SECRET_KEY_FILE: short,
    }),
  ).toEqual([
    'DATABASE_URL_FILE: is set, and so is DATABASE_URL; set one of them',
    `HEADRACE_OWNER_PASSWORD_FILE: the file ${join(folder, 'none')} cannot be read (ENOENT)`,
    `HEADRACE_BOOTSTRAP_KEY_FILE: the file ${join(folder, 'empty')} is empty`,
    'HEADRACE_SECRET_KEY: has to have at least 32 characters',
  ]);
});
