import { expect, test } from 'vitest';
import { SourceListing } from './source-listing.ts';
import { TreeCache } from './tree-cache.ts';

function cache(): { trees: TreeCache; removed: string[]; add(key: string): ReturnType<TreeCache['add']> } {
  const removed: string[] = [];
  const trees = new TreeCache({ trees: 9, files: 99, bytes: 10_000 }, (folder) => removed.push(folder));
  return {
    trees,
    removed,
    add: (key) =>
      trees.add({
        key,
        group: 'g',
        folder: key,
        listing: new SourceListing(Buffer.from('f 644 1 1 7 1.0 a\0\0')),
      }),
  };
}

test('the repository of a source counts as the source does, and goes with it', () => {
  const { trees, removed, add } = cache();
  const [one, two] = [add('one'), add('two')];
  one.git = { folder: 'one.git', byteSize: 5000 };
  trees.release(two);
  expect(removed).toEqual(['two']);
  trees.release(one);
  one.git.byteSize = 7000;
  trees.release(add('three'));
  expect(removed).toEqual(['two', 'one', 'one.git']);
});

test('all that nobody uses can be given up at once', () => {
  const { trees, removed, add } = cache();
  const one = add('one');
  trees.release(add('two'));
  trees.clear();
  expect([removed, trees.keys('g')]).toEqual([['two'], ['one']]);
  trees.release(one);
});
