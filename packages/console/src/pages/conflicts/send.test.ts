import { createHash } from 'node:crypto';
import { HeadraceError } from '@headrace/client';
import type { Apply, ApplyPreview, CreateApplyInput, CreateEditInput, DiffFile } from '@headrace/client';
import { expect, test } from 'vitest';
import { carried, takeSide, write } from './decisions.ts';
import type { Conflict } from './decisions.ts';
import { sendDecisions } from './send.ts';
import type { Service, State } from './send.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const conflict = (path: string, draft = `draft ${path}`): Conflict => ({
  path,
  kind: 'content',
  base: hash('base'),
  head: hash('head'),
  draft: hash(draft),
});
const preview = (conflicts: Conflict[], changes: DiffFile[] = []): ApplyPreview => ({
  headSourceId: 'src_head',
  status: conflicts.length > 0 ? 'conflicted' : 'clean',
  changes,
  conflicts,
});
const file = (path: string, patch: string): DiffFile => ({
  path,
  status: 'modified',
  binary: false,
  additions: 1,
  deletions: 1,
  patch,
});

const HEADS_FILE = {
  content: 'of the head\n',
  encoding: 'utf8',
  executable: false,
  byteSize: 12,
  sha256: 'of the head',
} as const;

/** A service that answers with this preview after an edit, and what it was asked. */
function service(after: ApplyPreview, over: Partial<Service> = {}) {
  const edits: CreateEditInput[] = [];
  const applies: CreateApplyInput[] = [];
  const shown: State[] = [];
  const all: Service = {
    edit: async (body) => (edits.push(body), { id: 'src_edited' }),
    preview: async () => after,
    diff: async () => [],
    file: async (_, path) => ({ ...HEADS_FILE, path }),
    onRound() {},
    isLeft: () => false,
    apply: async (body) => (applies.push(body), { id: 'apl_1' } as Apply),
    onEdited: (state) => void shown.push(state),
    ...over,
  };
  return { ...all, edits, applies, shown };
}

const LIST = [conflict('a'), conflict('b')];
const own = { content: 'mine\n', regions: [], left: 0, from: 'the editor' as const };
const stateOf = (entries = carried(LIST, new Map())): State => ({
  sourceId: 'src_draft',
  preview: preview(LIST),
  entries,
});
const decided = () => write(takeSide(carried(LIST, new Map()), LIST, 'a', 'head'), 'b', own);
const noFile = { fileOf: () => undefined };

test('nothing is sent while a conflict is open', async () => {
  const to = service(preview([]));
  expect(await sendDecisions(stateOf(), to, noFile)).toEqual({ end: 'open', count: 2 });
  expect([to.edits, to.applies]).toEqual([[], []]);
});

test('a text goes into the draft, and then the draft’s side is taken, for the head that was seen', async () => {
  const to = service(preview([conflict('a'), conflict('b', 'mine\n')]));
  expect(await sendDecisions(stateOf(decided()), to, noFile)).toMatchObject({ end: 'sent' });
  expect(to.edits).toEqual([
    {
      expectedSourceId: 'src_draft',
      changes: [{ path: 'b', content: 'mine\n' }],
      message: 'Conflicts resolved by hand',
    },
  ]);
  expect(to.applies).toEqual([
    {
      expectedSourceId: 'src_edited',
      conflictResolution: 'manual',
      expectedHeadSourceId: 'src_head',
      resolutions: [
        { path: 'a', take: 'head' },
        { path: 'b', take: 'draft' },
      ],
    },
  ]);
  expect(to.shown.map(({ sourceId }) => sourceId)).toEqual(['src_edited']);
});

test('a text that ends the conflict as it is needs no resolution', async () => {
  const same = file('b', 'the patch');
  const to = service(preview([conflict('a')], [same]), { diff: async () => [same] });
  expect(await sendDecisions(stateOf(decided()), to, noFile)).toMatchObject({ end: 'sent' });
  expect(to.applies[0]!.resolutions).toEqual([{ path: 'a', take: 'head' }]);
});

test('a text that loses to the head is said, not applied; applied only if that is wanted', async () => {
  const to = service(preview([conflict('a')]), { diff: async () => [file('b', 'the patch')] });
  expect(await sendDecisions(stateOf(decided()), to, noFile)).toEqual({
    end: 'lost',
    texts: ['b'],
    heads: [],
  });
  // Also after a reload, when nobody remembers that it was said.
  expect(await sendDecisions(to.shown[0]!, to, noFile)).toEqual({ end: 'lost', texts: ['b'], heads: [] });
  expect(to.applies).toEqual([]);
  expect(await sendDecisions(to.shown[0]!, to, { ...noFile, accepts: true })).toMatchObject({ end: 'sent' });
  expect(to.edits).toHaveLength(1);
});

test('the head’s file in the draft that a later head has no more is said, not applied', async () => {
  const entries = takeSide(carried(LIST, new Map()), LIST, 'a', 'head');
  const decidedB = takeSide(entries, LIST, 'b', 'draft');
  // A round has put a's file of the former head into the draft; the head there is has that of the base.
  const state = { ...stateOf(decidedB), preview: preview([LIST[1]!], [file('a', 'the former head’s')]) };
  const to = service(preview([]));
  expect(await sendDecisions(state, to, noFile)).toEqual({ end: 'lost', texts: [], heads: ['a'] });
  expect(to.applies).toEqual([]);
  expect(await sendDecisions(state, to, { ...noFile, accepts: true })).toMatchObject({ end: 'sent' });
  // While the head has it, the draft changes nothing there.
  const same = { ...state, preview: preview([LIST[1]!]) };
  expect(await sendDecisions(same, to, noFile)).toMatchObject({ end: 'sent' });
});

test('a conflict that an edit opens is shown before anything is applied', async () => {
  const to = service(preview([conflict('a'), conflict('b', 'mine\n'), conflict('c')]));
  expect(await sendDecisions(stateOf(decided()), to, noFile)).toEqual({ end: 'open', count: 1 });
  expect(to.applies).toEqual([]);
});

const refused = (code: 'stale_head' | 'stale_source') => new HeadraceError(409, code, code);

test.each([
  ['stale_head', 'head'],
  ['stale_source', 'draft'],
] as const)('%s: nothing is applied, and the %s is named', async (code, what) => {
  const to = service(preview([]), { apply: () => Promise.reject(refused(code)) });
  const state = stateOf(takeSide(takeSide(carried(LIST, new Map()), LIST, 'a', 'head'), LIST, 'b', 'draft'));
  expect(await sendDecisions(state, to, noFile)).toEqual({ end: 'stale', what });
});

test('a draft that has not what was sent is not edited again and again', async () => {
  const to = service(preview([conflict('a'), conflict('b')]));
  // The draft's side is as before the edit: the decision was made for it, and its text is missing.
  await expect(sendDecisions(stateOf(decided()), to, noFile)).rejects.toThrow('does not have the texts');
  expect(to.edits).toHaveLength(1);
});

test('what is more than one apply takes goes into the draft in rounds, each of them on the one before', async () => {
  const many = Array.from({ length: 2600 }, (_, i) => conflict(`src/${i}`));
  const takes = many.map(({ path }, i) => [path, i % 2 ? 'draft' : 'head'] as const);
  const entries = new Map(carried(many, new Map()));
  for (const [path, choice] of takes) entries.set(path, { ...entries.get(path)!, choice });
  const drafts = [{ id: 'src_draft', gone: new Set<string>() }];
  const left: number[] = [];
  const to = service(preview([]), {
    edit: async ({ expectedSourceId, changes }) => {
      expect(expectedSourceId).toBe(drafts.at(-1)!.id);
      const gone = new Set([...drafts.at(-1)!.gone, ...changes.map(({ path }) => path)]);
      drafts.push({ id: `src_${drafts.length}`, gone });
      return drafts.at(-1)!;
    },
    preview: async () => preview(many.filter(({ path }) => !drafts.at(-1)!.gone.has(path))),
    onRound: (count) => void left.push(count),
  });
  const state = { sourceId: 'src_draft', preview: preview(many), entries };
  expect(await sendDecisions(state, to, noFile)).toMatchObject({ end: 'sent' });
  expect(left).toEqual([301, 101]);
  const { gone } = drafts.at(-1)!;
  expect(takes.every(([path, take]) => take === 'head' || !gone.has(path))).toBe(true);
  const [{ expectedSourceId, resolutions }] = to.applies as [CreateApplyInput];
  expect([expectedSourceId, resolutions!.length]).toEqual(['src_2', 1000]);
  expect(resolutions).toContainEqual({ path: 'src/', take: 'draft' });
  expect(resolutions!.filter(({ path }) => gone.has(path))).toEqual([]);
});

test('who leaves the page while files go into the draft stops it before the next write', async () => {
  const isLeft = () => true;
  const after = preview([conflict('a'), conflict('b', 'mine\n')]);
  const to = service(after, { isLeft });
  expect(await sendDecisions(stateOf(decided()), to, noFile)).toEqual({ end: 'stopped' });
  expect([to.edits.length, to.applies.length, to.shown.length]).toEqual([1, 0, 1]);
  // Who comes back goes on from the draft that there is.
  const again = service(after);
  expect(await sendDecisions(to.shown[0]!, again, noFile)).toMatchObject({ end: 'sent' });
  expect(again.edits).toEqual([]);
});

test('the paths of moves cannot go first: then it is said that there are too many', async () => {
  const many = Array.from({ length: 2600 }, (_, i): Conflict => ({
    ...conflict(`src/${i}`),
    kind: 'rename',
  }));
  const entries = new Map(carried(many, new Map()));
  for (const [i, { path }] of many.entries())
    entries.set(path, { ...entries.get(path)!, choice: i % 2 ? 'draft' : 'head' });
  const to = service(preview([]));
  const state = { sourceId: 'src_draft', preview: preview(many), entries };
  expect(await sendDecisions(state, to, noFile)).toEqual({ end: 'too-many', count: 1301 });
  expect([to.edits, to.applies]).toEqual([[], []]);
});
