import type { Settings } from '@headrace/client';
import { describe, expect, test } from 'vitest';
import { changesOf, draftOf, faultAt, wrongIn } from './draft.ts';

const NONE: Settings = {
  instructions: null,
  idleTimeoutMinutes: null,
  modelId: null,
  spendLimitMicros: null,
  budgetMicros: null,
  approvals: null,
  egress: null,
  concurrency: null,
  runtime: null,
  setup: null,
  preview: null,
  pullRequests: null,
  reviewLoop: null,
};
const ALL: Settings = {
  instructions: 'Write a test with each change.\n',
  idleTimeoutMinutes: 15,
  modelId: 'scripted',
  spendLimitMicros: 1_500_000,
  budgetMicros: 10_000_001,
  approvals: [
    { tool: 'sh', decision: 'ask', pattern: 'rm *' },
    { tool: 'sh', decision: 'allow' },
  ],
  egress: { mode: 'list', hosts: ['api.example.com'] },
  concurrency: { runs: 2, builds: null },
  runtime: 'debian-12',
  setup: { command: 'npm ci', paths: ['package.json', 'packages/'], timeoutSeconds: 120 },
  preview: { frameAncestors: [] },
  pullRequests: { draft: false },
  reviewLoop: {
    enabled: true,
    autoMerge: null,
    maxPasses: 3,
    mergeMethod: 'squash',
    instructions: null,
    reply: false,
  },
};

describe('what is sent', () => {
  test.each([
    ['nothing stored', NONE],
    ['everything stored', ALL],
  ])('%s, nothing typed: nothing', (_, stored) => {
    expect(changesOf(stored, draftOf(stored))).toEqual({});
  });

  test('everything that is typed', () => {
    expect(changesOf(NONE, draftOf(ALL))).toEqual(ALL);
  });

  test('null for everything that is taken back', () => {
    expect(changesOf(ALL, draftOf(NONE))).toEqual(NONE);
  });

  test('only what differs', () => {
    const draft = {
      ...draftOf(ALL),
      spendLimit: '1.5',
      runs: '3',
      egress: { mode: 'registries', hosts: ' \n' },
    };
    expect(changesOf(ALL, draft)).toEqual({
      concurrency: { runs: 3, builds: null },
      egress: { mode: 'registries', hosts: [] },
    });
  });

  test('an empty list is not the same as none', () => {
    const draft = draftOf(NONE);
    expect(
      changesOf(NONE, {
        ...draft,
        approvals: { own: true, rules: [] },
        frameAncestors: { own: true, lines: '' },
      }),
    ).toEqual({ approvals: [], preview: { frameAncestors: [] } });
  });
});

describe('a setup', () => {
  const own = { kind: 'own', command: 'npm ci', paths: 'a\n', seconds: '' };

  test('without seconds has the service’s', () => {
    expect(changesOf(NONE, { ...draftOf(NONE), setup: own })).toEqual({
      setup: { command: 'npm ci', paths: ['a'] },
    });
  });

  test('none keeps the paths, and has some where there were none', () => {
    const none = {
      ...ALL,
      setup: { command: null, paths: ['package.json', 'packages/'], timeoutSeconds: 120 },
    };
    const all = draftOf(ALL);
    expect(changesOf(ALL, { ...all, setup: { ...all.setup, kind: 'none' } })).toEqual({ setup: none.setup });
    expect(changesOf(none, draftOf(none))).toEqual({});
    const empty = draftOf(NONE);
    expect(changesOf(NONE, { ...empty, setup: { ...empty.setup, kind: 'none' } })).toEqual({
      setup: { command: null, paths: ['.'] },
    });
  });

  test.each([{ command: ' ' }, { paths: '\n' }, { paths: 'a\n'.repeat(51) }, { seconds: '601' }])(
    'with %j is wrong',
    (typed) => {
      expect(Object.keys(wrongIn({ ...draftOf(NONE), setup: { ...own, ...typed } }))).toEqual(['setup']);
    },
  );
});

test.each([
  [{ idleTimeoutMinutes: '61' }, 'idleTimeoutMinutes'],
  [{ runs: '0' }, 'runs'],
  [{ builds: '1.5' }, 'builds'],
  [{ budget: '-1' }, 'budget'],
  [{ spendLimit: '1.0000001' }, 'spendLimit'],
  [{ egress: { mode: 'list', hosts: '\n' } }, 'egress'],
  [{ approvals: { own: true, rules: [{ tool: ' ', pattern: '', decision: 'ask' }] } }, 'approvals'],
])('%j is wrong', (typed, name) => {
  expect(Object.keys(wrongIn({ ...draftOf(NONE), ...typed }))).toEqual([name]);
});

test('what is stored is never wrong', () => {
  expect(wrongIn(draftOf(NONE))).toEqual({});
  expect(wrongIn(draftOf(ALL))).toEqual({});
});

test('faults are found below a pointer, and name the item of a list', () => {
  const fields = [
    { path: '/egress/hosts/1', message: 'must be a name' },
    { path: '/egressions', message: 'no' },
  ];
  expect(faultAt(fields, '/egress/hosts', ['a.example', 'b'])).toBe('b: must be a name');
  expect(faultAt(fields, '/egress')).toBe('must be a name');
  expect(faultAt(fields, '/preview')).toBeNull();
});
