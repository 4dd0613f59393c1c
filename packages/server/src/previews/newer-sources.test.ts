import { expect, test } from 'vitest';
import { nextSource } from './bring-source.ts';
import { retryDelay } from './newer-sources.ts';

test('a source that is refused is tried ever less often, once a minute in the end', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 1000].map(retryDelay)).toEqual([
    2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000,
  ]);
});

test.each<[string, string | null, (string | null)[], string | null, { id: string | null } | undefined]>([
  ['holds the one to show', 'a', [], 'a', undefined],
  ['holds an older one', 'a', [], 'b', { id: 'b' }],
  ['may hold another one', 'a', ['b'], 'a', { id: 'a' }],
  ['may hold none', 'a', [null], 'a', { id: 'a' }],
  ['was given the one to show, and the answer was lost', 'a', ['a'], 'a', { id: 'a' }],
  ['was given as many as are remembered', 'a', [...'12345678'], 'b', { id: '8' }],
  ['was given them, the one to show too', 'a', [...'12345678'], '3', { id: '3' }],
])('a sandbox that %s', (_, held, tried, latest, next) => {
  const preview = { id: 'p', project_id: 'j', source_id: held, tried_source_ids: tried };
  expect(nextSource({ ...preview, latest_source_id: latest })).toEqual(next);
});
