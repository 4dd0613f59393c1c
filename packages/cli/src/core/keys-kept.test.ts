/** When the key of a command's writes outlives it: whenever the same command, run again, could act twice without it. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createTestService } from '@headrace/client/testing';
import { expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import type { TestCli } from '../cli.fixture.ts';

/** The command line on a service that gives these answers to writes first. `cut`: the write is done, its answer lost. */
function withAnswers(answers: (Response | 'cut')[]): TestCli {
  const service = createTestService();
  return testCli({
    ...service,
    async fetch(input, init) {
      if (init?.method !== 'POST' || answers.length === 0) return service.fetch(input, init);
      const next = answers.shift()!;
      if (next !== 'cut') return next;
      await service.fetch(input, init);
      throw new TypeError('cut');
    },
  });
}

const refusal = (status: number, code: string) =>
  Response.json(
    { ok: false, error: { code, message: 'Later.' } },
    { status, headers: { 'retry-after': '3600' } },
  );
const appsOf = async (cli: TestCli) => (await cli.run(['apps', 'list', '--json'])).json().apps as unknown[];

test('a write with a lost answer, then refused by a limit of requests, happens once', async () => {
  const cli = withAnswers(['cut', refusal(429, 'rate_limited')]);
  const limited = await cli.run(['apps', 'create', 'Shop']);
  expect(limited.exit).toBe(7);
  const again = await cli.run(['apps', 'create', 'Shop']);
  expect([again.exit, again.stderr]).toEqual([0, expect.stringContaining('Continuing the same command')]);
  expect(await appsOf(cli)).toHaveLength(1);
});

test('an app that could not be linked is linked by the same command', async () => {
  const service = createTestService();
  const cut = testCli({
    ...service,
    async fetch(input, init) {
      const answer = await service.fetch(input, init);
      if (init?.method === 'POST') rmSync(join(cut.cwd, 'web'), { recursive: true });
      return answer;
    },
  });
  const cwd = join(cut.cwd, 'web');
  mkdirSync(cwd);
  expect((await cut.run(['init', '--create', 'Shop'], { cwd })).exit).toBe(1);
  mkdirSync(cwd);
  const again = await cut.run(['init', '--create', 'Shop'], { cwd });
  expect(again.stderr).toContain('Continuing the same command');
  expect(await appsOf(cut)).toHaveLength(1);
});
