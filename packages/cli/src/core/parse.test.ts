import { describe, expect, test } from 'vitest';
import { command } from './command.ts';
import type { Command } from './command.ts';
import { parse } from './parse.ts';

const spec = { group: 'Start', summary: 'Do it', scope: 'service', run: async () => {} } as const;
const COMMANDS: readonly Command[] = [
  command({ ...spec, name: 'list', examples: ['headrace list'] }),
  command({
    ...spec,
    name: 'things list',
    scope: 'app',
    examples: ['headrace things list'],
    args: ['FIRST', '[SECOND]'],
    options: {
      limit: { type: 'number', short: 'L', value: 'N', help: 'how many', min: 1, max: 100 },
      color: { type: 'string', help: 'which', choices: ['red', 'blue'] },
      tag: { type: 'string', short: 't', help: 'tags', multiple: true },
      timeout: { type: 'duration', help: 'how long' },
      all: { type: 'boolean', help: 'all' },
    },
  }),
  command({ ...spec, name: 'things add', examples: ['headrace things add a'], args: ['NAME...'] }),
  command({
    ...spec,
    name: 'exec',
    examples: ['headrace exec -- ls'],
    args: ['[NAME...]'],
    rest: 'COMMAND...',
  }),
];
const parsed = (...argv: string[]) => parse(argv, COMMANDS);
const input = (...argv: string[]) => parsed(...argv).input;

const call = command({
  ...spec,
  name: 'call',
  examples: ['headrace call /x'],
  args: ['[METHOD]', 'PATH', '[MORE]'],
});

test('an optional argument before a required one takes a word that is left', () => {
  const args = (...words: string[]) => parse(['call', ...words], [call]).input.args;
  expect(args('/x')).toEqual([undefined, '/x', undefined]);
  expect(args('GET', '/x')).toEqual(['GET', '/x', undefined]);
  expect(args('GET', '/x', 'y')).toEqual(['GET', '/x', 'y']);
  expect(() => args()).toThrow('PATH is missing');
  expect(() => args('a', 'b', 'c', 'd')).toThrow('"d" is one argument too many.');
});

describe('a command line', () => {
  test('has a command of two words or one, wherever options are', () => {
    expect(parsed('list').command?.name).toBe('list');
    expect(parsed('--app', 'prj_1', 'things', '--json', 'list', 'x').command?.name).toBe('things list');
    expect(parsed('-a', 'list', 'things', 'list', 'x').globals.app).toBe('list');
  });

  test('may name a group, or nothing', () => {
    expect(parsed('things')).toMatchObject({ command: undefined, words: ['things'] });
    expect(parsed('--help')).toMatchObject({ command: undefined, words: [], globals: { help: true } });
  });

  test('has values of their types', () => {
    expect(
      input(
        'things',
        'list',
        'a',
        'b',
        '-L5',
        '--color=red',
        '-t',
        'x',
        '--tag',
        'y',
        '--timeout',
        '10m',
        '--all',
      ),
    ).toMatchObject({
      args: ['a', 'b'],
      options: { limit: 5, color: 'red', tag: ['x', 'y'], timeout: 600_000, all: true },
    });
    expect(input('things', 'list', 'a')).toMatchObject({
      args: ['a', undefined],
      options: { limit: undefined, tag: [], all: false, timeout: undefined },
    });
  });

  test('has the rest after `--` as it is', () => {
    expect(input('exec', 'one', '--', '--json', '-L', '--', '')).toMatchObject({
      args: [['one']],
      rest: ['--json', '-L', '--', ''],
    });
    expect(parsed('exec', '--', '--json').globals.json).toBe(false);
    expect(input('exec')).toMatchObject({ args: [[]], rest: [] });
  });

  test('takes values that begin with a dash after =', () => {
    expect(input('things', 'list', 'a', '--tag=--all')).toMatchObject({
      options: { tag: ['--all'], all: false },
    });
    expect(input('things', 'list', '-', '-t', '-')).toMatchObject({
      args: ['-', undefined],
      options: { tag: ['-'] },
    });
  });

  test('asks for help before anything is checked', () => {
    expect(parsed('things', 'add', '--help')).toMatchObject({ globals: { help: true } });
  });
});

describe('a wrong command line says what is right', () => {
  test.each([
    [['lisst'], 'There is no command "lisst". Did you mean `headrace list`?'],
    [['things', 'ad', 'x'], 'There is no command "things ad". Did you mean `headrace things add`?'],
    [['psh', '-m', 'First'], 'There is no command "psh First".'],
    [['list', '--jsn'], 'headrace list has no option --jsn. Did you mean --json?'],
    [['--zzz'], 'headrace has no option --zzz.'],
    [['list', 'more'], '"more" is one argument too many.'],
    [['things', 'list'], 'FIRST is missing.'],
    [['things', 'add'], 'NAME is missing.'],
    [['things', 'list', 'a', '-L', '0'], '--limit is a number from 1 to 100, not "0".'],
    [['things', 'list', 'a', '-L', '1e1'], '--limit is a number from 1 to 100, not "1e1".'],
    [['things', 'list', 'a', '--limit='], '--limit is a number from 1 to 100, not "".'],
    [['things', 'list', 'a', '--color', 'green'], '--color is one of red, blue, not "green".'],
    [['things', 'list', 'a', '--timeout', '5'], '--timeout is a time such as 30s, 10m or 2h, not "5".'],
    [['things', 'list', 'a', '--tag'], '--tag needs a value: --tag VALUE'],
    [['things', 'list', 'a', '--tag', '--all'], '--tag needs a value; to give "--all", write --tag=--all'],
    [['things', 'list', 'a', '--limit', '1', '-L', '2'], '--limit is given twice.'],
    [['list', '--json=yes'], '--json takes no value.'],
    [['list', '--json', '--jsonl'], '--json and --jsonl exclude each other.'],
    [['list', '--app', 'x'], 'headrace list has no use for --app: leave it out.'],
    [['list', '--fresh'], 'headrace list has no use for --fresh: leave it out.'],
    [['list', '--', 'x'], 'headrace list takes nothing after `--`.'],
  ])('%j', (argv, message) => {
    expect(() => parse(argv, COMMANDS)).toThrow(expect.objectContaining({ message, exit: 2 }));
  });

  test('without a key that was typed', () => {
    const key = 'hrk_01jd0000000000000000000000_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ0123456';
    expect(() => parse(['list', key], COMMANDS)).toThrow(
      expect.objectContaining({ message: '"hrk_…" is one argument too many.' }),
    );
  });
});
