import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createTestService } from '@headrace/client/testing';
import { expect, test } from 'vitest';
import { linkedFolder, writeFiles } from './source.fixture.ts';

/** Starts `push --watch`, and waits for what it says. */
async function watching() {
  const service = createTestService();
  const linked = await linkedFolder({ 'src/a.txt': 'a' }, service);
  let output = '';
  let look = () => {};
  const ended = linked.run(['push', '--watch'], {
    onOutput(text) {
      output += text;
      look();
    },
  });
  const said = (text: string): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        const at = output.indexOf(text);
        if (at === -1) return;
        output = output.slice(at + text.length);
        resolve();
      };
      look();
    });
  await said('Watching for changes. Ctrl-C ends.');
  return { ...linked, service, said, ended };
}

test('a folder is pushed when its files have changed, until Ctrl-C; new folders are watched too', async () => {
  const { cli, run, folder, said, ended } = await watching();
  writeFiles(folder, { 'src/a.txt': 'b' });
  await said('Pushed 1 modified of 2 files');
  mkdirSync(join(folder, 'new/deep'), { recursive: true });
  writeFiles(folder, { 'new/deep/c.txt': 'c' });
  await said('Pushed 1 added of 3 files');
  renameSync(join(folder, 'new'), join(folder, 'old'));
  writeFiles(folder, { 'new/deep/d.txt': 'd' });
  await said('Pushed 1 added, 1 renamed of 4 files');
  writeFiles(folder, { 'new/deep/d.txt': 'D' });
  await said('Pushed 1 modified of 4 files');
  cli.interrupt();
  expect((await ended).exit).toBe(130);
  const { sources } = (await run(['log', '--sources', '--json'])).json();
  // Each follows the one before.
  expect(sources.map((source: { parentSourceIds: string[] }) => source.parentSourceIds)).toEqual([
    ...sources.slice(1).map(({ id }: { id: string }) => [id]),
    [],
  ]);
});

test('a service that is away, and a file that cannot be pushed, are waited for', async () => {
  const { cli, folder, service, said, ended } = await watching();
  service.failNext('sources.import', { code: 'thread_busy' });
  writeFiles(folder, { 'src/a.txt': 'b' });
  await said('Trying again, next in 1.0 s.');
  await said('Pushed 1 modified of 2 files');
  writeFiles(folder, { 'bad\nname': '' });
  await said('must not contain control characters');
  renameSync(join(folder, 'bad\nname'), join(folder, 'good'));
  await said('Pushed 1 added of 3 files');
  cli.interrupt();
  expect((await ended).exit).toBe(130);
});

test('what will not pass ends the command', async () => {
  const { folder, service, ended } = await watching();
  service.failNext('sources.import', { code: 'forbidden' });
  writeFiles(folder, { 'src/a.txt': 'b' });
  expect((await ended).exit).toBe(4);
});
