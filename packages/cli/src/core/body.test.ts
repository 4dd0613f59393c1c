import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import { assignments, bodyOf, requireChange } from './body.ts';
import { Cli } from './cli.ts';
import type { Globals } from './options.ts';

function cliIn(cwd: string, stdin = ''): Cli {
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const io = { env: {}, cwd, stdin: new PassThrough().end(stdin), stdout: sink(), stderr: sink() };
  return new Cli({ ...io, program: [], onInterrupt: () => () => undefined }, {} as Globals);
}

test('a body is read from a file or stdin, and options win over it, also within objects', async () => {
  const { cwd } = testCli();
  const body = { name: 'a', trigger: { kind: 'schedule', cron: '0 6 * * *' }, filter: [1] };
  writeFileSync(join(cwd, 'a b.json'), JSON.stringify(body));
  const options = { name: 'b', trigger: { cron: '@daily' }, filter: undefined };
  const expected = { name: 'b', trigger: { kind: 'schedule', cron: '@daily' }, filter: [1] };
  expect(await bodyOf(cliIn(cwd), 'a b.json', options)).toEqual(expected);
  expect(await bodyOf(cliIn(cwd, JSON.stringify(body)), '-', options)).toEqual(expected);
  expect(await bodyOf(cliIn(cwd), undefined, options)).toEqual({ name: 'b', trigger: { cron: '@daily' } });
});

test('what is no JSON object is refused with its name and place', async () => {
  const { cwd } = testCli();
  writeFileSync(join(cwd, 'body.json'), '{"name": }');
  await expect(bodyOf(cliIn(cwd), 'body.json', {})).rejects.toThrow(/^body\.json is not JSON: .*token/);
  await expect(bodyOf(cliIn(cwd, '[]'), '-', {})).rejects.toThrow('stdin is not a JSON object.');
  await expect(bodyOf(cliIn(cwd), 'none.json', {})).rejects.toThrow(/^none\.json cannot be read: ENOENT/);
  expect(() => requireChange({})).toThrow('There is nothing to change');
});

test('assignments are text, JSON or files, at keys or paths', async () => {
  const { cwd } = testCli();
  writeFileSync(join(cwd, 'rules.json'), '[{"tool":"sh"}]');
  writeFileSync(join(cwd, 'note.txt'), 'a=b\n');
  const words = [
    'modelId=scripted',
    'idleTimeoutMinutes:=30',
    'concurrency.runs:=4',
    'concurrency.builds:=null',
    'approvals:=@rules.json',
    'instructions=@note.txt',
    'handle=@@kim',
    'runtime=a:=b=c',
  ];
  expect(await assignments(cliIn(cwd), words)).toEqual({
    modelId: 'scripted',
    idleTimeoutMinutes: 30,
    concurrency: { runs: 4, builds: null },
    approvals: [{ tool: 'sh' }],
    instructions: 'a=b\n',
    handle: '@kim',
    runtime: 'a:=b=c',
  });
});

test.each([
  ['modelId', '"modelId" is no assignment: write KEY=TEXT, KEY:=JSON or KEY=@FILE.'],
  ['=x', '"=x" is no assignment: write KEY=TEXT, KEY:=JSON or KEY=@FILE.'],
  ['a..b=x', '"a..b" is no key.'],
  ['__proto__.x=1', '"__proto__.x" is no key.'],
  ['runs:=four', 'runs is not JSON: Unexpected token \'o\', "four" is not valid JSON'],
])('the assignment %s is refused', async (word, message) => {
  await expect(assignments(cliIn(testCli().cwd), [word])).rejects.toThrow(message);
});
