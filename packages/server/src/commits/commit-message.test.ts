import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { commitMessage } from './commit-message.ts';

const message = (given: Partial<Parameters<typeof commitMessage>[0]> = {}) =>
  commitMessage({ subject: 'Add a page', threadId: 'thr_1', runIds: [], ...given });

/** What git takes for trailers. */
const trailers = (text: string) =>
  execFileSync('git', ['interpret-trailers', '--parse'], { input: text, encoding: 'utf8' })
    .trim()
    .split('\n');

test('subject, thread, runs and the authors of their messages', () => {
  expect(
    message({
      runIds: ['run_1', 'run_2'],
      coAuthors: [
        { name: 'Ada', email: 'ada@example.test' },
        { name: 'Bob', email: 'bob@example.test' },
        { name: 'Ada', email: 'ada@example.test' },
      ],
    }),
  ).toBe(`Add a page

Headrace-Thread: thr_1
Headrace-Run: run_1
Headrace-Run: run_2
Co-authored-by: Ada <ada@example.test>
Co-authored-by: Bob <bob@example.test>
`);
});

describe('subjects', () => {
  test.each([
    ['\n \n  First line  \r\nsecond', 'First line'],
    ['a\u0000b `code`\u2028more', "a b 'code'"],
    [null, 'Update'],
    [' \n\t', 'Update'],
    ['x'.repeat(73), `${'x'.repeat(71)}…`],
    ['😀'.repeat(72), '😀'.repeat(72)],
  ])('%j becomes %j', (subject, expected) => expect(message({ subject }).split('\n')[0]).toBe(expected));
});

test('the newest twenty runs are named', () => {
  const runIds = Array.from({ length: 25 }, (_, i) => `run_${i}`);
  const named = trailers(message({ runIds })).filter((line) => line.startsWith('Headrace-Run'));
  expect([named.length, named[0], named.at(-1)]).toEqual([20, 'Headrace-Run: run_5', 'Headrace-Run: run_24']);
});

test.each([
  [
    { name: 'Eve\nHeadrace-Thread: thr_2', email: 'eve@example.test' },
    ['Co-authored-by: Eve Headrace-Thread: thr_2 <eve@example.test>'],
  ],
  [
    { name: 'Eve <root@example.test>', email: 'eve@example.test' },
    ['Co-authored-by: Eve root@example.test <eve@example.test>'],
  ],
  [{ name: '', email: 'eve@example.test' }, ['Co-authored-by: eve <eve@example.test>']],
  [{ name: 'Eve', email: 'eve@example.test>\nHeadrace-Thread: thr_2' }, []],
  [{ name: 'Eve', email: 'not an address' }, []],
])('%j forges no trailer', (author, expected) => {
  expect(trailers(message({ coAuthors: [author] }))).toEqual(['Headrace-Thread: thr_1', ...expected]);
});
