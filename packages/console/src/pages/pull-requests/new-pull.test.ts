import type { Message, Run } from '@headrace/client';
import { expect, test } from 'vitest';
import { bodyOf, cliOf, EMPTY, numberFault } from './new-pull.ts';
import { passesOf } from './passes-of.ts';

test('what is left empty is not sent', () => {
  expect(bodyOf(EMPTY)).toEqual({});
  const typed = {
    ...EMPTY,
    title: ' Roses ',
    base: 'next',
    draft: 'yes',
    loop: 'merge',
    comments: true,
  } as const;
  expect(bodyOf(typed)).toEqual({
    title: 'Roses',
    base: 'next',
    draft: true,
    reviewLoop: { enabled: true, autoMerge: true },
    commentOnIssue: true,
  });
  expect(cliOf('thr_1', bodyOf(typed))).toBe(
    "headrace pr create --thread thr_1 --title 'Roses' --base 'next' --draft --loop --auto-merge --comment-on-issue",
  );
});

test('there is no command for what the command line cannot say', () => {
  for (const more of [{ draft: 'no' }, { loop: 'on' }, { loop: 'off' }] as const)
    expect(cliOf('thr_1', bodyOf({ ...EMPTY, ...more }))).toBeNull();
});

test('with a number only the loop goes', () => {
  const typed = { ...EMPTY, what: 'number', number: '12', title: 'kept', loop: 'off' } as const;
  expect(bodyOf(typed)).toEqual({ number: 12, reviewLoop: { enabled: false, autoMerge: false } });
  expect(numberFault(typed)).toBeNull();
  for (const number of ['0', '-1', 'a', '1.5']) expect(numberFault({ ...typed, number })).not.toBeNull();
});

test('passes are runs of system messages and repairs since the pull request was made', () => {
  const run = (id: string, more: Partial<Run>) =>
    ({ id, kind: 'message', messageId: null, createdAt: '2026-01-02', ...more }) as Run;
  const messages = [
    { id: 'm1', role: 'system' },
    { id: 'm2', role: 'user' },
  ] as Message[];
  const runs = [
    run('pass', { messageId: 'm1' }),
    run('asked', { messageId: 'm2' }),
    run('update', { kind: 'repair', createdAt: '2026-01-03' }),
    run('older', { messageId: 'm1', createdAt: '2026-01-01' }),
  ];
  const found = passesOf(messages, runs, '2026-01-02');
  expect(found.map((pass) => [pass.run.id, pass.message?.id])).toEqual([
    ['update', undefined],
    ['pass', 'm1'],
  ]);
});
