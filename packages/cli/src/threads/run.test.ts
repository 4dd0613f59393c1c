import { createTestService } from '@headrace/client/testing';
import { expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import { newShop, sh } from './threads.fixture.ts';

const CHANGE = '```file index.html\nhello\n```';

test('the work is done, applied and built by one command', async () => {
  const { run, client, appId } = await newShop();
  const { exit, stdout, stderr } = await run('run', CHANGE, '--apply', '--build', 'make', '-d', '.');
  expect([exit, stdout]).toEqual([0, 'Wrote index.html.\n']);
  expect(stderr).toMatch(/^Thread thr_\w+\n✓ The run completed: src_\w+/);
  const { headSourceId } = await client.apps.get(appId);
  expect(stderr).toContain(`✓ Applied: ${headSourceId} is the head\n`);
  expect((await client.sources.file(appId, headSourceId!, { path: 'index.html' })).content).toBe('hello\n');
  const {
    thread,
    run: done,
    apply,
    build,
    failed,
  } = (await run('run', CHANGE.replace('hello', 'bye'), '--apply', '--build', 'make', '--json')).json();
  expect([thread.status, done.status, apply.status, build.status, failed]).toEqual([
    'ready',
    'completed',
    'applied',
    'ready',
    null,
  ]);
  expect([apply.draftSourceId, build.sourceId]).toEqual([done.resultSourceId, apply.resultSourceId]);
});

test('advice to apply is given only where the command does not apply itself, whose apply is the last one then', async () => {
  const { run } = await newShop();
  expect((await run('run', CHANGE)).stderr).toMatch(/→ headrace diff .* headrace apply /);
  expect((await run('run', CHANGE.replace('hello', 'bye'), '--apply')).stderr).not.toContain('→');
  expect(await run('applies', 'show', '@last')).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining('applied'),
  });
});

test('the exit code and the last message say which step failed', async () => {
  const { run, service, appId } = await newShop();
  const agent = await run('run', sh('exit 3'), '--apply', '--build', 'make', '--json');
  expect([agent.exit, agent.json()]).toMatchObject([
    1,
    { ok: true, failed: 'run', apply: null, build: null },
  ]);
  let isMoved = false;
  const apply = await run('run', CHANGE, '--apply', '--manual', '--build', 'make', {
    onOutput(text) {
      if (!isMoved && text.includes('Thread thr_')) service.moveHead(appId, { 'index.html': 'other\n' });
      isMoved = true;
    },
  });
  expect([apply.exit, apply.stderr]).toEqual([
    6,
    expect.stringMatching(
      /1 conflict with the head: index.html\n→ headrace apply thr_\w+\n✗ The step that failed: apply\n$/,
    ),
  ]);
  service.buildNext({ exitCode: 2 });
  const build = await run('run', CHANGE, '--build', 'make');
  expect([build.exit, build.stderr]).toEqual([
    1,
    expect.stringMatching(/→ headrace logs .*\n✗ The step that failed: build\n$/),
  ]);
  expect(await run('run', 'nothing', '--apply')).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining('there is nothing to apply'),
  });
});

test.each(['threads.create', 'applies.create', 'builds.create'])(
  'an interruption whose %s has happened is continued by the same command: one thread, one apply, one build',
  async (operation) => {
    const shop = await newShop(createTestService());
    const { service, client, appId } = shop;
    let isCut = true;
    const cli = testCli({
      ...service,
      async fetch(input, init) {
        const answer = await service.fetch(input, init);
        if (!isCut || service.requests.at(-1)?.operation !== operation) return answer;
        cli.interrupt();
        throw new TypeError('cut');
      },
    });
    const argv = ['run', CHANGE, '--apply', '--build', 'make'];
    const env = { HEADRACE_APP: appId };
    expect((await cli.run(argv, { env })).exit).toBe(130);
    isCut = false;
    const again = await cli.run(argv, { env });
    expect([again.exit, again.stderr]).toEqual([0, expect.stringMatching(/^Continuing the same command/)]);
    const { items } = await client.threads.list(appId);
    expect(items).toHaveLength(1);
    expect((await client.runs.list(appId, items[0]!.id)).items).toHaveLength(1);
    expect((await client.applies.list(appId)).items).toHaveLength(1);
    expect((await client.builds.list(appId, items[0]!.id)).items).toHaveLength(1);
  },
);

test('leaving a run by Ctrl-C keeps it: the same command goes on with its thread', async () => {
  const { run, cli, service, client, appId } = await newShop(createTestService({ approvals: 'ask' }));
  const argv = ['run', sh('echo hi')];
  const left = await run(...argv, { onOutput: (text) => text.includes('The agent asks') && cli.interrupt() });
  expect([left.exit, left.stderr]).toEqual([
    130,
    expect.stringContaining('The same command goes on with the thread.'),
  ]);
  await service.idle();
  await run('approve');
  expect((await run(...argv)).exit).toBe(0);
  expect((await client.threads.list(appId)).items).toHaveLength(1);
});
