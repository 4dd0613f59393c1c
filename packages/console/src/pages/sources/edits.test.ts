import { afterEach, expect, test, vi } from 'vitest';
import { EditStore, hasMixedEnds, withLineEnds } from './edits.ts';
import { imageType } from './image-type.ts';

test('an edited file keeps its line ends', () => {
  expect(withLineEnds('a\nb\n', 'a\r\nc\r\n')).toBe('a\r\nb\r\n');
  expect(withLineEnds('a\nb\n', 'a\n')).toBe('a\nb\n');
  // Mixed ones cannot be kept: which line is which?
  expect(withLineEnds('a\nb\n', 'a\r\nb\n')).toBe('a\nb\n');
  expect(withLineEnds('a\n', undefined)).toBe('a\n');
  expect(['a\r\nb\r\n', 'a\nb\n', 'a\r\nb\n', '\nb\r\n', 'a\rb'].map(hasMixedEnds)).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
});

/** A storage with room for values of up to 20 characters. */
function makeStorage() {
  const items = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    get length() {
      return items.size;
    },
    key: (index: number) => [...items.keys()][index] ?? null,
    getItem: (name: string) => items.get(name) ?? null,
    removeItem: (name: string) => void items.delete(name),
    setItem(name: string, value: string) {
      if (value.length > 20) throw new Error('Full');
      items.set(name, value);
    },
  });
}
afterEach(() => vi.unstubAllGlobals());
const kept = () => ({ ...new EditStore('src_1').state().edits });

test('edits outlive a reload, each by itself', () => {
  makeStorage();
  const store = new EditStore('src_1');
  store.set('a', 'one');
  store.set('constructor', null);
  store.set('b', 'two');
  store.set('b', undefined);
  expect(kept()).toEqual({});
  store.flush();
  expect(kept()).toEqual({ a: 'one', constructor: null });
  expect(new EditStore('src_12').state().edits).toEqual({});
});

test('what was changed while it was sent stays', () => {
  makeStorage();
  const store = new EditStore('src_1');
  store.set('a', 'one');
  store.set('b', 'two');
  store.set('c', 'late');
  store.set('b', 'two and more');
  store.drop([
    { path: 'a', content: 'one' },
    { path: 'b', content: 'two' },
  ]);
  expect({ ...store.state().edits }).toEqual({ b: 'two and more', c: 'late' });
  expect(kept()).toEqual({ b: 'two and more', c: 'late' });
});

test('a text that the storage has no room for leaves no older one there, and is told', () => {
  makeStorage();
  const store = new EditStore('src_1');
  store.set('a', 'short');
  store.flush();
  store.set('a', 'x'.repeat(30));
  store.flush();
  expect(kept()).toEqual({});
  expect([...store.state().unkept]).toEqual(['a']);
  store.set('a', 'short');
  store.flush();
  expect([...store.state().unkept]).toEqual([]);
});

test('pictures are known by their ending', () => {
  expect([
    imageType('a/LOGO.PNG'),
    imageType('a.svg'),
    imageType('Makefile'),
    imageType('constructor'),
  ]).toEqual(['image/png', null, null, null]);
});
