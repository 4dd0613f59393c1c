import { expect, test } from 'vitest';
import { takingTurns } from './turns.ts';

test('owners take turns, in the order of their work', async () => {
  const inTurn = takingTurns(1);
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work = (owner: string, name: string) => inTurn(owner, async () => void done.push(name));
  const all = [
    inTurn('a', () => gate.promise),
    ...['a1', 'a2', 'a3'].map((name) => work('a', name)),
    work('b', 'b1'),
    work('c', 'c1'),
    work('b', 'b2'),
  ];
  gate.resolve();
  await Promise.all(all);
  expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('work that fails gives its place away', async () => {
  const inTurn = takingTurns(2);
  const failing = () => inTurn('a', () => Promise.reject(new Error('no')));
  await expect(Promise.all([failing(), failing(), failing()])).rejects.toThrow('no');
  expect(await inTurn('b', async () => 'yes')).toBe('yes');
});

test('one owner leaves places to the others', async () => {
  const inTurn = takingTurns(Infinity, 1);
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  const work = (name: string) => async () => {
    begun.push(name);
    await gate.promise;
  };
  const all = [inTurn('a', work('a1')), inTurn('a', work('a2')), inTurn('b', work('b1'))];
  expect(begun).toEqual(['a1', 'b1']);
  gate.resolve();
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'b1', 'a2']);
});
