import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { signingKeyFault } from './signing-key.ts';

const folder = mkdtempSync(join(tmpdir(), 'headrace-signing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function key(name: string, passphrase = ''): string {
  const file = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-f', file]);
  return file;
}

test('a key without a passphrase serves', async () => {
  expect(await signingKeyFault(key('good'))).toBeNull();
});

test('what is wrong with another file is said', async () => {
  expect(await signingKeyFault(key('locked', 'secret'))).toContain('passphrase');
  const open = key('open');
  chmodSync(open, 0o644);
  expect(await signingKeyFault(open)).toContain('chmod 600');
  const text = join(folder, 'text');
  writeFileSync(text, 'not a key', { mode: 0o600 });
  expect(await signingKeyFault(text)).toBe('is no SSH private key');
});

test('without ssh-keygen the fault names it', async () => {
  const { PATH } = process.env;
  try {
    process.env['PATH'] = folder;
    expect(await signingKeyFault(join(folder, 'any'))).toContain('needs ssh-keygen');
  } finally {
    process.env['PATH'] = PATH;
  }
});
