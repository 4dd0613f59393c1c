/** Every kind of conflict, as the preview shows it and as resolutions decide it for each side. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { ok } from '../threads/threads.fixture.ts';
import { draftsOf, P } from './applies.fixture.ts';
import type { Draft, Files } from './applies.fixture.ts';

let server: TestServer;
let d: ReturnType<typeof draftsOf>;
beforeAll(async () => {
  server = await startTestServer();
  d = draftsOf(server);
});
afterAll(() => server.close());

const lines = (changed: Record<number, string> = {}) =>
  Array.from({ length: 40 }, (_, i) => `${changed[i + 1] ?? `line ${i + 1}`}\n`).join('');
const preview = async (draft: Draft, fields = {}) =>
  (
    await ok(
      server.call(
        'POST',
        `${P}/apps/${draft.appId}/threads/${draft.threadId}/apply/preview`,
        { expectedSourceId: draft.sourceId, ...fields },
        { idem: false },
      ),
    )
  ).preview;
const kindsOf = (conflicts: { path: string; kind: string }[]) =>
  Object.fromEntries(conflicts.map(({ path, kind }) => [path, kind]));
/** A side's changes as its files. */
const sideOf = (base: Files, changes: Record<string, string | null>): Files =>
  Object.fromEntries(
    Object.entries({ ...base, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null),
  );

type Changes = Record<string, string | null>;
/** The base, the changes of head and draft, and the conflicts. */
const KINDS: Record<string, [Files, Changes, Changes, Record<string, string>]> = {
  'one line changed by both': [
    { a: lines() },
    { a: lines({ 5: 'HEAD' }) },
    { a: lines({ 5: 'DRAFT' }) },
    { a: 'content' },
  ],
  'added by both': [{}, { a: 'head\n' }, { a: 'draft\n' }, { a: 'add_add' }],
  'deleted in the head, changed in the draft': [
    { a: lines() },
    { a: null },
    { a: lines({ 5: 'DRAFT' }) },
    { a: 'delete_modify' },
  ],
  'changed in the head, deleted in the draft': [
    { a: lines() },
    { a: lines({ 5: 'HEAD' }) },
    { a: null },
    { a: 'delete_modify' },
  ],
  'moved to two places': [
    { old: lines() },
    { old: null, h: lines() },
    { old: null, d: lines() },
    { d: 'rename', h: 'rename', old: 'rename' },
  ],
  'moved and edited in the head, edited in the draft': [
    { old: lines() },
    { old: null, h: lines({ 5: 'HEAD' }) },
    { old: lines({ 5: 'DRAFT' }) },
    { h: 'rename', old: 'rename' },
  ],
  'edited in the head, moved and edited in the draft': [
    { old: lines() },
    { old: lines({ 5: 'HEAD' }) },
    { old: null, d: lines({ 5: 'DRAFT' }) },
    { d: 'rename', old: 'rename' },
  ],
  'moved in the head, deleted in the draft': [
    { old: lines() },
    { old: null, h: lines() },
    { old: null },
    { h: 'rename' },
  ],
  'binary, changed by both': [{ a: 'x\0base' }, { a: 'x\0head' }, { a: 'x\0draft' }, { a: 'binary' }],
  'names that differ in case': [
    {},
    { 'README.md': 'head\n' },
    { 'readme.md': 'draft\n' },
    { 'README.md': 'path', 'readme.md': 'path' },
  ],
  'names that differ in Unicode form': [
    {},
    { 'caf\u00e9': 'head\n' },
    { 'cafe\u0301': 'draft\n' },
    { 'cafe\u0301': 'path', 'caf\u00e9': 'path' },
  ],
  'a file in the head, a folder in the draft': [
    {},
    { x: 'head\n' },
    { 'x/y': 'draft\n', 'x/z': 'draft\n' },
    { x: 'path', 'x/y': 'path', 'x/z': 'path' },
  ],
  'a folder in the head, a file in the draft': [
    {},
    { 'x/y': 'head\n' },
    { x: 'draft\n' },
    { x: 'path', 'x/y': 'path' },
  ],
  'a file beside a folder of other case': [
    {},
    { docs: 'head\n' },
    { 'Docs/b': 'draft\n' },
    { 'Docs/b': 'path', docs: 'path' },
  ],
};

describe.each(Object.entries(KINDS))('%s', (_, [base, head, draft, kinds]) => {
  const clean = { ours: 'same\n', z: 'z\n' };
  test.each(['head', 'draft'] as const)('takes the %s', async (take) => {
    const made = await d.diverged({ ...base, z: 'z\n' }, { ...head }, { ...draft, ours: 'same\n' });
    const shown = await preview(made);
    expect([shown.status, kindsOf(shown.conflicts)]).toEqual(['conflicted', kinds]);
    const manual = await d.finish(made, { conflictResolution: 'manual' });
    expect([manual.status, manual.conflicts]).toEqual([
      'conflicted',
      shown.conflicts.map((c: { path: string }) => c.path),
    ]);
    const fields = {
      expectedHeadSourceId: shown.headSourceId,
      resolutions: Object.keys(kinds).map((path) => ({ path, take })),
    };
    expect(await preview(made, fields)).toMatchObject({ status: 'clean', conflicts: [] });
    const apply = await d.finish(made, fields);
    expect([apply.status, apply.error]).toEqual(['applied', null]);
    const side = sideOf({ ...base }, take === 'head' ? head : draft);
    expect(await d.files(made.appId, apply.resultSourceId!)).toEqual({ ...side, ...clean });
  });
});

test('an executable bit on one of two equal files that both added is a conflict of its own', async () => {
  const { appId, sourceId } = await d.app({ z: 'z\n' });
  const made = async (executable: boolean): Promise<Draft> => {
    const { threadId } = await d.draft(appId, sourceId, {});
    const { source } = await ok(
      server.call('POST', `${P}/apps/${appId}/threads/${threadId}/edits`, {
        expectedSourceId: sourceId,
        changes: [{ path: 'run', content: 'same\n', executable }],
      }),
    );
    return { appId, threadId, sourceId: source.id };
  };
  const [head, draft] = [await made(true), await made(false)];
  await d.finish(head);
  const { headSourceId, conflicts } = await preview(draft);
  expect(kindsOf(conflicts)).toEqual({ run: 'mode' });
  const apply = await d.finish(draft, {
    expectedHeadSourceId: headSourceId,
    resolutions: [{ path: 'run', take: 'draft' }],
  });
  expect(
    (await ok(server.call('GET', `${P}/apps/${appId}/sources/${apply.resultSourceId}/files`))).files,
  ).toMatchObject([{ path: 'run', executable: false }, { path: 'z' }]);
});

describe('more conflicts than resolutions', () => {
  const paths = [
    ...Array.from({ length: 700 }, (_, i) => `a/${i % 7}/f${i}`),
    ...Array.from({ length: 400 }, (_, i) => `b/f${i}`),
  ];
  const all = (content: string): Files => Object.fromEntries(paths.map((path) => [path, content]));

  test('are all named, and decided by folders, the longest first', async () => {
    const made = await d.diverged(all('base\n'), all('head\n'), all('draft\n'));
    const first = await d.finish(made, { conflictResolution: 'manual' });
    expect([first.conflicts.length, first.conflicts]).toEqual([1100, paths.toSorted()]);
    const partly = { expectedHeadSourceId: made.head, resolutions: [{ path: 'a/', take: 'head' }] };
    expect((await preview(made, partly)).conflicts.length).toBe(400);
    expect((await d.finish(made, partly)).conflicts).toEqual(
      paths.filter((path) => path.startsWith('b/')).toSorted(),
    );
    const apply = await d.finish(made, {
      ...partly,
      resolutions: [
        { path: 'a/', take: 'head' },
        { path: 'a/3/', take: 'draft' },
        { path: 'a/3/f3', take: 'head' },
        ...paths.filter((path) => path.startsWith('b/')).map((path) => ({ path, take: 'draft' })),
      ],
    });
    expect([apply.status, apply.conflicts]).toEqual(['applied', []]);
    const { diff } = await ok(
      server.call('GET', `${P}/apps/${made.appId}/sources/${apply.resultSourceId}/diff?base=${made.head}`),
    );
    expect(diff.files.map((file: { path: string }) => file.path)).toEqual(
      paths
        .filter((path) => path.startsWith('b/') || (path.startsWith('a/3/') && path !== 'a/3/f3'))
        .toSorted(),
    );
  });

  test('or in rounds: what was decided goes into the draft, and is in conflict no more', async () => {
    const made = await d.diverged(all('base\n'), all('head\n'), all('draft\n'));
    const round = paths.slice(0, 1000).toSorted();
    const { source } = await ok(
      server.call('POST', `${P}/apps/${made.appId}/threads/${made.threadId}/edits`, {
        expectedSourceId: made.sourceId,
        changes: round.map((path) => ({ path, content: 'head\n' })),
      }),
    );
    const shown = await preview({ ...made, sourceId: source.id });
    expect(shown.conflicts.length).toBe(100);
    const apply = await d.finish(
      { ...made, sourceId: source.id },
      {
        expectedHeadSourceId: made.head,
        resolutions: shown.conflicts.map(({ path }: { path: string }) => ({ path, take: 'draft' })),
      },
    );
    expect(apply.status).toBe('applied');
    const { diff } = await ok(
      server.call('GET', `${P}/apps/${made.appId}/sources/${apply.resultSourceId}/diff?base=${made.head}`),
    );
    expect(diff.files.length).toBe(100);
  });
});
