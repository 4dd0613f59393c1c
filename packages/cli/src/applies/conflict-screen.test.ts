import stringWidth from 'fast-string-width';
import { expect, test } from 'vitest';
import { conflictScreen } from './conflict-screen.ts';

const side = (content: string) => ({
  sha256: '',
  byteSize: content.length,
  executable: false,
  encoding: 'utf8' as const,
  content,
});

test.each([80, 40])(
  'a line of 10 MB and a thousand places fill no more than a screen of %d columns',
  (width) => {
    const long = '\u001b]0;owned\u0007'.repeat(1_000_000);
    const region = `<<<<<<< head\n${'h\n'.repeat(40)}=======\nd\n>>>>>>> draft\n`;
    const screenOf = (content: string, regions: { fromLine: number; toLine: number }[]) =>
      conflictScreen(
        {
          conflict: { path: 'a', kind: 'content', base: 'b', head: 'h', draft: 'd' },
          file: {
            path: 'a',
            kind: 'content',
            base: side('b\n'),
            head: side(`${long}h\n`),
            draft: side(`${long}d\n`),
            merged: { content, regions },
          },
          place: 1,
          count: 1,
        },
        { width, paint: (_, text) => text },
      ).split('\n');
    const one = screenOf(`<<<<<<< head\n${long}h\n=======\n${long}d\n>>>>>>> draft\n`, [
      { fromLine: 1, toLine: 5 },
    ]);
    const size = region.split('\n').length - 1;
    const many = screenOf(
      region.repeat(1000),
      Array.from({ length: 1000 }, (_, at) => ({ fromLine: at * size + 1, toLine: (at + 1) * size })),
    );
    for (const lines of [one, many]) {
      expect(lines.length).toBeLessThan(80);
      expect(lines.filter((line) => stringWidth(line) > width)).toEqual([]);
    }
    expect(one.at(-1)).toContain('␛]0;owned␇');
    expect(many.at(-1)).toMatch(/^… 99\d more places; v shows/);
    expect(many.join('\n')).toContain('… 25 more lines');
  },
);
