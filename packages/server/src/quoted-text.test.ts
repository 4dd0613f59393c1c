import { Parser } from 'commonmark';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstBytes, lastBytes } from './cut-text.ts';
import { closingLines, quotedText } from './quoted-text.ts';

interface Block {
  type: string;
  info: string | null;
  text: string | null;
}

/** The blocks of a document, parsed by the reference implementation of CommonMark. */
function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (let node = new Parser().parse(markdown).firstChild; node; node = node.next)
    blocks.push({ type: node.type, info: node.info, text: node.literal });
  return blocks;
}

/** Text that opens, closes or continues blocks, in any script, visible or not. */
const pieces = [
  ['```', '``````', '~~~', '~~~~~', '```sh', '~~~ text', '````text', '`', '  ```', '   ~~~', '    ```'],
  ['- ', '* a', '1. ', '> ', '> ```', '- ```', '\t```', '#', '***', '===', '[a]: /b', '"title', '\\'],
  ['<!-- a', '-->', '<pre>', '</pre>', '<script>', '<?php', '?>', '<!DOCTYPE', '<![CDATA[', ']]>', '<div>'],
  ['\r', '\r\n', '\u2028', '\u0085', '\0', '\u001b[2J', '\t', ' ', '\u200b', '\u202e', '\ud800', '\udc00'],
  ['word', 'слово', 'كلمة', '言葉', 'คำ', '😀', '&amp;', '![](x)', '<b>', 'e\u0301'],
].flat();
const strangers = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...pieces, '\n', '\n', '\n\n') },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
      { weight: 1, arbitrary: fc.nat(40).map((n) => '`'.repeat(n)) },
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

/** Text with the line endings of CommonMark and the characters that the database stores. */
const read = (text: string): string => {
  const lines = text.replaceAll('\0', '\u{fffd}').toWellFormed().replace(/\r\n?/g, '\n');
  return lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`;
};

describe('quoted text', () => {
  test('is one code block with exactly the text, for any text', () => {
    fc.assert(
      fc.property(strangers, (text) => {
        expect(blocksOf(`Before.\n\n${quotedText(text)}\n\nBehind.`)).toEqual([
          expect.objectContaining({ type: 'paragraph' }),
          { type: 'code_block', info: 'text', text: read(text) },
          expect.objectContaining({ type: 'paragraph' }),
        ]);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['', '```text\n```'],
    ['a', '```text\na\n```'],
    ['a\n', '```text\na\n```'],
    ['a\r\nb\rc', '```text\na\nb\nc\n```'],
    ['a ```` b', '`````text\na ```` b\n`````'],
    ['\0\ud800', '```text\n\u{fffd}\u{fffd}\n```'],
  ])('%j is %j', (text, expected) => expect(quotedText(text)).toBe(expected));
});

describe('closing lines', () => {
  test('leave nothing open, for any text before them', () => {
    fc.assert(
      fc.property(strangers, strangers, (before, text) => {
        const message = [before, closingLines(before), quotedText(text), 'Behind.'].join('\n\n');
        expect(blocksOf(message).slice(-2)).toEqual([
          { type: 'code_block', info: 'text', text: read(text) },
          expect.objectContaining({ type: 'paragraph' }),
        ]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('are empty if nothing can be open', () => {
    expect(closingLines('Run `npm test`.\n\n- a <b>\n    - b')).toBe('');
  });
});

describe('parts of a text', () => {
  test('are whole characters, as many as fit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, maxBytes) => {
        const characters = [...text];
        const longest = (take: (count: number) => string[]) =>
          characters
            .map((_, at) => take(at + 1).join(''))
            .filter((part) => Buffer.byteLength(part) <= maxBytes)
            .at(-1) ?? '';
        expect(firstBytes(text, maxBytes)).toBe(longest((count) => characters.slice(0, count)));
        expect(lastBytes(text, maxBytes)).toBe(longest((count) => characters.slice(-count)));
      }),
      { numRuns: 500 },
    );
  });
});
