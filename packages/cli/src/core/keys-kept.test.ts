/** When the key of a command's writes outlives it: whenever the same command, run again, could act twice without it. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createTestService } from '@headrace/client/testing';
import { expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import type { TestCli } from '../cli.fixture.ts';
import { newShop } from '../threads/threads.fixture.ts';

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

/** After `cut`, the answer to the next write is lost after it is done. */
async function cutShop() {
  const service = createTestService();
  const shop = await newShop(service);
  const { client, appId } = shop;
  async function newestBuild() {
    const [thread] = (await client.threads.list(appId)).items;
    const { items } = await client.builds.list(appId, thread!.id, { limit: 1 });
    return { ok: true, builds: items, nextCursor: null, hasMore: false };
  }
  let isCut = false;
  const cli = testCli({
    ...service,
    async fetch(input, init) {
      // The service in memory has no list of all builds.
      if (new URL(input as string).pathname.endsWith('/v1/builds')) return Response.json(await newestBuild());
      const answer = await service.fetch(input, init);
      if (!isCut || init?.method !== 'POST') return answer;
      isCut = false;
      cli.interrupt();
      throw new TypeError('cut');
    },
  });
  const env = { HEADRACE_APP: appId };
  return { ...shop, run: (...argv: string[]) => cli.run(argv, { env }), cut: () => void (isCut = true) };
}

test('after another thread became the last one, the same words are a message to that one', async () => {
  const { run, cut, client, appId } = await cutShop();
  await run('thread', 'new', '--title', 'one');
  cut();
  expect((await run('send', 'hello')).exit).toBe(130);
  await run('thread', 'new', '--title', 'two');
  const sent = await run('send', 'hello');
  expect([sent.exit, sent.stderr]).toEqual([0, expect.not.stringContaining('idempotency')]);
  const { items } = await client.threads.list(appId);
  for (const { id } of items) {
    const messages = (await client.messages.list(appId, id)).items.filter(({ role }) => role === 'user');
    expect(messages).toHaveLength(1);
  }
});

test('a build that repeats the newest one is another build when that has changed', async () => {
  const { run, cut, client, appId, service } = await cutShop();
  await run('thread', 'new');
  await run('build', '--', 'make one');
  cut();
  expect((await run('build')).exit).toBe(130);
  await service.idle();
  const [thread] = (await client.threads.list(appId)).items;
  await client.builds.create(appId, thread!.id, { command: 'make two', outputDirectory: 'dist' }).done();
  expect((await run('build', '--json')).json()).toMatchObject({ ok: true, build: { command: 'make two' } });
});
