import { describe, expect, test } from 'vitest';
import { fenced, fencesOf } from './fences.ts';

describe('fences', () => {
  test.each([
    ['```sh\necho\n```\n', [['sh', 'echo\n']]],
    [
      'text\n```sh\na\n```\nmore\n~~~patch\nb\n~~~\n',
      [
        ['sh', 'a\n'],
        ['patch', 'b\n'],
      ],
    ],
    ['````file a.md\n```sh\nx\n```\n````\n', [['file a.md', '```sh\nx\n```\n']]],
    ['~~~~sh\n~~~\n~~~~~\n', [['sh', '~~~\n']]],
    ['```sh\n~~~\n```\n', [['sh', '~~~\n']]],
    ['```sh\nopen to the end', [['sh', 'open to the end']]],
    ['  ```sh\n  a\n b\n    c\n  ```\n', [['sh', 'a\nb\n  c\n']]],
    ['    ```sh\n    a\n    ```\n', []],
    ['``` sh \na\n```', [['sh', 'a\n']]],
    ['``sh\na\n``', []],
    ['```sh `x`\na\n```\n', [['', '']]],
    ['```sh\na\n``` not closed\nb\n```\n', [['sh', 'a\n``` not closed\nb\n']]],
    ['```sh\n```\n', [['sh', '']]],
    ['```file with space ä.txt\r\na\r\n```\r\n', [['file with space ä.txt', 'a\r\n']]],
    [
      '```js\nx\n```\n```sh\ny\n```',
      [
        ['js', 'x\n'],
        ['sh', 'y\n'],
      ],
    ],
  ])('%j', (text, expected) => {
    expect(fencesOf(text).map((fence) => [fence.info, fence.content])).toEqual(expected);
  });

  test('a fence around a text holds the fences in it', () => {
    const inner = 'a\n`````\nb\n';
    expect(fencesOf(fenced(inner))).toEqual([{ info: '', content: inner }]);
  });
});
