import { describe, expect, test } from 'vitest';
import { DependencyCache, dependencyLimits } from './dependency-cache.ts';

const LIMITS = { folders: 3, bytes: 100, folderBytes: 60, lowMemory: 0 };

function cache(limits = LIMITS) {
  const removed: string[] = [];
  const kept = new DependencyCache(limits, (folder) => {
    removed.push(folder);
  });
  const add = (lock: string, byteSize = 10, group = 'prj') =>
    kept.add({ group, lock, folder: `/${group}/${lock}`, byteSize });
  return { kept, removed, add };
}

describe('kept dependencies', () => {
  test('are found by project and lock file, the first of several', () => {
    const { kept, add } = cache();
    const one = add('one');
    expect(kept.take({ group: 'prj', locks: ['none', 'one'] })).toBe(one);
    expect(kept.take({ group: 'prj', locks: ['one'], runtime: 'musl' })).toBeUndefined();
    expect([
      kept.take({ group: 'other', locks: ['one'] }),
      kept.take({ group: 'prj', locks: [] }),
      kept.take({ group: 'prj', locks: ['none'] }),
    ]).toEqual([undefined, undefined, undefined]);
    expect([
      kept.has({ group: 'prj', lock: 'one' }),
      kept.has({ group: 'prj', lock: 'none' }),
      one.users,
    ]).toEqual([true, false, 2]);
  });

  test('go when others need the room, the longest unused first; what is in use stays', () => {
    const { kept, removed, add } = cache();
    const [one, two, three] = [add('one'), add('two'), add('three')];
    for (const each of [one, two, three]) kept.release(each);
    kept.release(kept.take({ group: 'prj', locks: ['one'] })!);
    expect(kept.admits(10)).toBe(true);
    expect(removed).toEqual(['/prj/two']);
    add('four');
    kept.take({ group: 'prj', locks: ['three'] });
    expect(kept.admits(60)).toBe(true);
    expect(removed).toEqual(['/prj/two', '/prj/one']);
  });

  test('are not taken in beyond the limits', () => {
    const { kept, removed, add } = cache();
    expect([kept.admits(60), kept.admits(61)]).toEqual([true, false]);
    add('one', 50);
    const two = add('two', 50);
    expect(kept.admits(10)).toBe(false);
    kept.release(two);
    expect([kept.admits(51), removed]).toEqual([false, []]);
    expect([kept.admits(50), removed]).toEqual([true, ['/prj/two']]);
    add('three', 1);
    add('four', 1);
    expect(kept.admits(1)).toBe(false);
  });

  test('go where memory is short, unless they are in use', () => {
    const { kept, removed, add } = cache({ ...LIMITS, lowMemory: 2 });
    expect(kept.admits(1)).toBe(false);
    const [one, two] = [add('one'), add('two')];
    kept.release(one);
    expect(removed).toEqual(['/prj/one']);
    kept.take({ group: 'prj', locks: ['two'] });
    kept.release(two);
    expect(removed).toEqual(['/prj/one']);
  });

  test('of one lock file from two threads at once: both are used, the later is given', () => {
    const { kept, removed } = cache();
    const [one, two] = ['/a', '/b'].map((folder) =>
      kept.add({ group: 'prj', lock: 'one', folder, byteSize: 1 }),
    );
    expect(kept.take({ group: 'prj', locks: ['one'] })).toBe(two);
    kept.release(one!);
    expect(removed).toEqual(['/a']);
    for (const _ of [1, 2]) kept.release(two!);
    kept.add({ group: 'prj', lock: 'one', folder: '/c', byteSize: 1 });
    expect(removed).toEqual(['/a', '/b']);
  });

  test('of a project are given up: at once, or when they are no longer used', () => {
    const { kept, removed, add } = cache();
    kept.release(add('one'));
    const two = add('two');
    add('three', 1, 'other');
    kept.forget('prj');
    expect([removed, kept.take({ group: 'prj', locks: ['one', 'two'] }), kept.groups()]).toEqual([
      ['/prj/one'],
      undefined,
      ['other'],
    ]);
    kept.release(two);
    expect(removed).toEqual(['/prj/one', '/prj/two']);
  });

  test('take an eighth of their file system at most', () => {
    const { bytes, folderBytes } = dependencyLimits('/');
    expect([bytes <= 2 * 1024 ** 3, folderBytes]).toEqual([true, bytes / 2]);
  });
});
