import { describe, expect, test } from 'vitest';
import { AnsiText, ansiLines } from './ansi.ts';

const texts = (text: string) => ansiLines(text).map((line) => line.text);

describe('output of commands', () => {
  test('has its colours, across lines, until they are reset', () => {
    expect(ansiLines('\u001b[1;31mbad\nworse\u001b[0m fine\u001b[38;5;28m green\u001b[39m')).toEqual([
      { text: 'bad', marks: [{ className: 'ansi-red ansi-bold', ranges: [0, 3] }] },
      {
        text: 'worse fine green',
        marks: [
          { className: 'ansi-red ansi-bold', ranges: [0, 5] },
          { className: 'ansi-green', ranges: [10, 16] },
        ],
      },
    ]);
  });

  test('loses all other escape codes', () => {
    expect(
      texts(
        'a\u001b[2Kb\u001b]0;title\u0007c\u001b]8;;http://x\u001b\\d\u001b(Be\u001b[?25lf\u001b]open\ng\u001b=h\u009b31mi',
      ),
    ).toEqual(['abcdef', 'ghi']);
  });

  test('shows what was written last after a carriage return', () => {
    expect(texts('10 %\r20 %\r\nwindows\r\nleft\r')).toEqual(['20 %', 'windows', 'left']);
    expect(texts('\u001b[31mold\r\u001b[0mnew\u001b[1G\u001b[0Knewer')).toEqual(['newer']);
  });

  test('an end of line ends the last line and starts none', () => {
    expect(texts('a\n\nb\n')).toEqual(['a', '', 'b']);
    expect(texts('')).toEqual([]);
  });

  test('is the same in pieces cut anywhere', () => {
    const text =
      'one\r\n\u001b[38;2;200;30;30mtwo 😀\u001b[0m\rtwo!\n\u001b]0;a title\u0007three\u001b[1Gfour\u001b[4;9mx\n';
    for (let size = 1; size < 12; size++) {
      const read = new AnsiText();
      for (let at = 0; at < text.length; at += size) read.append(text.slice(at, at + size));
      expect(joined(read.lines)).toEqual(joined(ansiLines(text)));
    }
  });

  test('a line with more colours than can be drawn is plain after them', () => {
    const [line] = ansiLines('\u001b[31mx\u001b[32my'.repeat(5000));
    expect(line!.text).toHaveLength(10_000);
    expect(line!.marks.flatMap(({ ranges }) => ranges)).toHaveLength(800);
  });

  test('10 MB in one line, and 2 MiB of codes without an end, take no noticeable time', () => {
    const began = performance.now();
    expect(texts('x'.repeat(10_000_000))[0]).toHaveLength(10_000_000);
    ansiLines('\u001b['.repeat(1_000_000));
    ansiLines(`\u001b]${'1'.repeat(2_000_000)}`);
    expect(performance.now() - began).toBeLessThan(3000);
  });
});

/** Each character with its class: ranges that touch are one. */
const joined = (lines: ReturnType<typeof ansiLines>) =>
  lines.map(({ text, marks }) =>
    text.split('').map((character, at) => {
      const found = marks.filter(({ ranges }) =>
        ranges.some((from, index) => index % 2 === 0 && from <= at && at < ranges[index + 1]!),
      );
      return character + found.map(({ className }) => className).join(' ');
    }),
  );
