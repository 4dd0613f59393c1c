import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeBench, scratch } from '../runner.fixture.ts';
import { GuestStore } from './guest-store.ts';
import { installGuest } from './guest.ts';
import { warmUp } from './warm-up.ts';

const bench = await makeBench();
const folder = scratch();

describe('the programs of sandboxes', () => {
  test('are made once; the next runner finds them', async () => {
    const cache = join(folder, 'cache');
    const one = await installGuest(join(folder, 'one'), null, cache);
    expect(await one.ready('headrace')).toBe(true);
    const times = (): number[] =>
      readdirSync(cache, { recursive: true, encoding: 'utf8' })
        .map((name) => join(cache, name))
        .filter((file) => file.endsWith('.cjs'))
        .map((file) => statSync(file).mtimeMs);
    const before = times();
    expect(before.length).toBe(7);
    const two = await installGuest(join(folder, 'two'), null, cache);
    expect(await two.ready('headrace')).toBe(true);
    expect(times()).toEqual(before);
    for (const name of [
      'scripted',
      'patch-tree',
      'trim-layer',
      'place-layer',
      'relay',
      'port-relay',
      'headrace',
      'headrace.main',
    ])
      expect(readFileSync(join(two.folder, `${name}.cjs`))).toEqual(
        readFileSync(join(one.folder, `${name}.cjs`)),
      );
    expect(await two.ready('none')).toBe(false);
  });

  test('two runners at once make the same', async () => {
    const both = await Promise.all(
      ['a', 'b'].map((name) => installGuest(join(folder, name), null, join(folder, 'shared'))),
    );
    expect(await Promise.all(both.map((guest) => guest.ready('headrace')))).toEqual([true, true]);
  });

  test('are made where they cannot be kept', async () => {
    writeFileSync(join(folder, 'file'), '');
    const guest = await installGuest(join(folder, 'unkept'), null, join(folder, 'file/cache'));
    expect(await guest.ready('headrace')).toBe(true);
    for (const name of ['scripted', 'headrace.main'])
      expect(statSync(join(guest.folder, `${name}.cjs`)).size).toBeGreaterThan(1000);
    guest.keepCompiled();
  });

  test('that could not be kept leave no parts behind', () => {
    const cache = join(folder, 'full'),
      store = new GuestStore(cache);
    store.keep('none/one.cjs', 'text');
    expect(readdirSync(cache, { recursive: true }).length).toBe(1);
  });

  test.skipIf(!bench)('leave what V8 made of them to later runners', async () => {
    const cache = join(folder, 'warm');
    const host = {
      ...bench!.host,
      guest: await installGuest(join(bench!.host.base, 'w', 'guest'), bench!.host.uid, cache),
    };
    expect(host.guest.isCold).toBe(true);
    await warmUp(host);
    const next = await installGuest(join(folder, 'next'), null, cache);
    expect(next.isCold).toBe(false);
    const files = readdirSync(next.compiled, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.length).toBeGreaterThan(0);
  });
});
