import { createTestService } from '@headrace/client/testing';
import { describe, expect, test } from 'vitest';
import { newShop, sh } from './threads.fixture.ts';

test('a thread is made without a message, listed, changed, archived, and deleted after a yes', async () => {
  const { run } = await newShop();
  const made = await run('thread', 'new', '--title', 'Dark mode', '--spend-limit', '2.5', '--json');
  expect(made.json()).toMatchObject({
    ok: true,
    thread: { title: 'Dark mode', spendLimitMicros: 2_500_000 },
  });
  const { id } = made.json().thread;
  await run('thread', 'archive');
  expect((await run('thread', 'list', '--status', 'archived')).stdout).toBe(
    `${id}\tarchived\tDark mode\tjust now\n`,
  );
  expect(await run('send', 'hi')).toMatchObject({
    exit: 6,
    stderr: expect.stringContaining('→ headrace thread unarchive THREAD\n'),
  });
  expect((await run('thread', 'unarchive', id)).stdout).toBe(`${id}  ready  Dark mode\n`);
  const changed = await run('thread', 'update', '--title', '', '--no-spend-limit', '--json');
  expect(changed.json().thread).toMatchObject({ title: null, spendLimitMicros: null });
  const refused = await run('thread', 'rm', '@last');
  expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('give --yes')]);
  expect((await run('thread', 'rm', '@last', '--yes')).stdout).toBe(`Deleted ${id}.\n`);
  expect((await run('thread', 'show', id)).exit).toBe(5);
});

test('a thread is shown with its sources, what it has cost, and its last runs', async () => {
  const { run } = await newShop();
  await run('thread', 'new', sh('echo hi'), '--follow');
  const { exit, stdout, stderr } = await run('thread', 'show');
  expect([exit, stderr]).toEqual([0, expect.stringMatching(/^Thread thr_\w+\n$/)]);
  expect(stdout).toMatch(/^ID\tthr_\w+\nTitle\t-\nStatus\tready\n/);
  expect(stdout).toContain('Spent\t$0.00\n');
  expect(stdout).toMatch(/\nrun_\w+\tcompleted\tmessage\tscripted\t/);
});

test('an empty list names the command that fills it, or says that nothing matches', async () => {
  const { run } = await newShop();
  expect((await run('thread', 'list')).stderr).toBe(
    'There are no threads yet. → headrace thread new "What is to be done"\n',
  );
  expect((await run('thread', 'list', '--status', 'failed')).stderr).toBe('No threads match.\n');
});

test('a thread starts from a source that is named as everywhere', async () => {
  const { run, client, appId } = await newShop();
  const { headSourceId } = await client.apps.get(appId);
  const started = await run('thread', 'new', '--source', 'head', '--json');
  expect(started.json().thread.sourceId).toBe(headSourceId);
});

test('a wrong amount, filter or change is refused before anything is sent', async () => {
  const { run, service } = await newShop();
  const before = service.requests.length;
  for (const argv of [
    ['thread', 'new', '--spend-limit', 'lots'],
    ['thread', 'list', '--status', 'odd'],
    ['thread', 'update'],
    ['thread', 'new', ' '],
    ['send', 'hi', '--follow', '--no-follow'],
    ['thread', 'new', 'hi', '--follow', '--no-follow'],
    ['attach', '--from', 'x'],
    ['exec'],
  ])
    expect((await run(...argv)).exit, argv.join(' ')).toBe(2);
  expect(service.requests.length).toBe(before);
});

describe('without a named thread', () => {
  test('commands use the last one, and say which; where there is none, they ask for one', async () => {
    const { run } = await newShop();
    expect(await run('runs')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('Which thread? There is no last one here yet.'),
    });
    const { thread } = (await run('thread', 'new', '--json')).json();
    expect(await run('runs')).toMatchObject({
      exit: 0,
      stdout: '',
      stderr: expect.stringContaining(`Thread ${thread.id}\nThe thread has no runs yet.`),
    });
  });

  test('a whole id is enough, without an app', async () => {
    const { run } = await newShop();
    const { thread } = (await run('thread', 'new', '--json')).json();
    const shown = await run('thread', 'show', thread.id, '--json', { env: { HEADRACE_APP: '' } });
    expect([shown.exit, shown.json().thread.id]).toEqual([0, thread.id]);
  });
});

test('approvals are listed and answered; without an id, the only one that waits is meant', async () => {
  const { run, service } = await newShop(createTestService({ approvals: 'ask' }));
  await run('thread', 'new', `${sh('echo one')}\n${sh('echo two')}`, '--no-follow');
  await service.idle();
  expect((await run('approvals')).stdout).toMatch(/^apr_\w+\tpending\techo one\tjust now\t/);
  expect((await run('approve')).stdout).toMatch(/^apr_\w+ {2}approved {2}echo one\n$/);
  await service.idle();
  expect((await run('deny', '--json')).json().approval).toMatchObject({
    status: 'denied',
    title: 'echo two',
  });
  await service.idle();
  expect(await run('deny')).toMatchObject({ exit: 5, stderr: expect.stringContaining('No approval waits') });
  expect((await run('messages', '--json')).json().messages.map(({ role }: { role: string }) => role)).toEqual(
    ['user', 'assistant'],
  );
});

test('a thread is forked: with a message that is followed, or without what was said', async () => {
  const { run, client, appId } = await newShop();
  await run('thread', 'new', sh('echo one'), '--title', 'First', '--follow');
  const { id } = (await run('thread', 'show', '--json')).json().thread;
  const forked = await run('fork', id, '--message', sh('echo two'), '--follow', '--json');
  expect(forked.json()).toMatchObject({
    thread: { title: 'First', forkedFrom: { threadId: id, checkpointId: null } },
    run: { status: 'completed' },
  });
  expect((await run('thread', 'show')).stdout).toContain(`Forked from\t${id}\n`);
  const own = (await run('messages', '--json')).json().messages;
  expect(own.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant']);
  const all = (await run('messages', '--inherited', '--json')).json().messages;
  expect(all.map(({ threadId }: { threadId: string }) => threadId === id)).toEqual([
    true,
    true,
    false,
    false,
  ]);

  const bare = await run('fork', id, '--no-transcript', '--title', 'Second', '--spend-limit', '1', '--json');
  const { thread } = bare.json();
  expect(thread).toMatchObject({ title: 'Second', spendLimitMicros: 1_000_000 });
  expect((await client.messages.list(appId, thread.id, { inherited: true })).items).toEqual([]);
  expect(await run('fork', id, '--checkpoint', `chk_${'0'.repeat(26)}`)).toMatchObject({ exit: 5 });
});
