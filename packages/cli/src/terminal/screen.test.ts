import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { Screen } from './screen.ts';
import { lastRows, rowsOf } from './wrap.ts';

const { Terminal } = createRequire(import.meta.url)('@xterm/headless') as typeof import('@xterm/headless');

function newScreen(columns: number, rows: number) {
  const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
  const sent: string[] = [];
  const out = Object.assign(
    new Writable({
      write(chunk: Buffer, _, done) {
        sent.push(chunk.toString());
        terminal.write(chunk.toString(), done);
      },
    }),
    { columns, rows },
  );
  const { active } = terminal.buffer;
  return {
    screen: new Screen(out),
    sent,
    /** All lines, also those above the screen. */
    async lines() {
      await new Promise<void>((resolve) => out.write('', () => resolve()));
      const all = Array.from({ length: active.length }, (_, at) =>
        active.getLine(at)!.translateToString(true),
      );
      return all.slice(0, all.findLastIndex((line) => line !== '') + 1);
    },
    async resize(to: number) {
      await new Promise<void>((resolve) => out.write('', () => resolve()));
      terminal.resize(to, rows);
      out.columns = to;
    },
  };
}

test('what changes is replaced below what stays, in one write, and the same is not drawn again', async () => {
  const { screen, lines, sent } = newScreen(20, 6);
  screen.draw(['one'], ['draft', 'state']);
  screen.draw([], ['draft grows', 'state']);
  screen.draw([], ['draft grows', 'state']);
  expect(await lines()).toEqual(['one', 'draft grows', 'state']);
  expect(sent.filter((text) => text !== '')).toHaveLength(2);
  screen.draw(['the whole reply, which is longer than a line'], ['state']);
  expect(await lines()).toEqual(['one', 'the whole reply, whi', 'ch is longer than a ', 'line', 'state']);
  screen.draw([], []);
  expect((await lines()).at(-1)).toBe('line');
});

test('what stays scrolls, and what changes fills the screen but no more', async () => {
  const { screen, lines } = newScreen(20, 4);
  for (let at = 0; at < 10; at++) screen.draw([`line ${at}`], ['a', 'b', `c ${at}`]);
  screen.draw([], []);
  expect(await lines()).toEqual(Array.from({ length: 10 }, (_, at) => `line ${at}`));
});

test('a terminal that becomes narrower or wider in between is drawn right', async () => {
  const { screen, lines, resize } = newScreen(20, 8);
  screen.draw(['stays'], ['0123456789012345678', 'state']);
  await resize(10);
  screen.draw([], ['now', 'state']);
  expect(await lines()).toEqual(['stays', 'now', 'state']);
  await resize(30);
  screen.draw(['more'], ['end']);
  expect(await lines()).toEqual(['stays', 'more', 'end']);
});

test('rows hold whole characters, wide ones and tabs too', () => {
  expect(rowsOf('日本語です', 5)).toEqual(['日本', '語で', 'す']);
  expect(rowsOf('a\tb', 5)).toEqual(['a    ', 'b']);
  expect(rowsOf('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3)).toEqual(['👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦']);
  expect(rowsOf('', 5)).toEqual(['']);
  expect(lastRows('1\n2\n3\n', { columns: 5, rows: 2 })).toEqual(['2', '3']);
  expect(lastRows('日本'.repeat(50_000), { columns: 4, rows: 2 })).toEqual(['日本', '日本']);
  expect(lastRows('x', { columns: 5, rows: 0 })).toEqual([]);
});
