import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scratch } from '../runner.fixture.ts';
import { storeFolder } from '../sandbox/guest-store.ts';
import { ensureRunner } from './index.ts';
import { runnerProgram } from './runner-program.ts';

const folder = scratch();

test.skipIf(!existsSync('/proc/self/cmdline'))(
  'runners start from one file, which is made once',
  async () => {
    const file = await runnerProgram(folder);
    expect(file).toMatch(/\/runner\.mjs$/);
    const made = statSync(file);
    const stateDir = join(folder, 'state');
    const client = await ensureRunner({ stateDir, socketPath: join(folder, 's') });
    const { pid } = await client.status();
    onTestFinished(() => {
      client.close();
      process.kill(pid, 'SIGTERM');
    });
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')).toContain(file);
    expect(statSync(file).ino).toBe(made.ino);
  },
);

test('a start removes no programs of the sandboxes, nor they this file: each store removes what it does not know', async () => {
  const file = await runnerProgram(folder);
  expect(dirname(dirname(file))).toBe(storeFolder(folder, 'runner'));
  expect(storeFolder(folder, 'runner')).not.toBe(storeFolder(folder));
});
