import { createTestService } from '@headrace/client/testing';
import { expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import { clientOf, diverged } from './applies.fixture.ts';
import { wordsOf } from './wait.ts';

async function conflicted() {
  const service = createTestService();
  const client = clientOf(service);
  const draft = await diverged(client, { a: 'base\n' }, { a: 'head\n' }, { a: 'draft\n' });
  const { appId, threadId, sourceId: expectedSourceId } = draft;
  return {
    service,
    client,
    draft,
    create: () => client.applies.create(appId, threadId, { expectedSourceId }),
  };
}

test('applies are listed and shown, with their conflicts', async () => {
  const { service, draft, create } = await conflicted();
  const apply = await create().done();
  const cli = testCli(service);
  const app = ['--app', draft.appId];
  const listed = await cli.run(['applies', 'list', '--thread', draft.threadId, ...app]);
  expect(listed).toMatchObject({
    exit: 0,
    stdout: `${apply.id}\tconflicted\t${draft.threadId}\tnot_configured: No agent is configured that repairs conflicts.\tjust now\n`,
  });
  const all = await cli.run(['applies', 'list', '--json', ...app]);
  expect(all.json()).toMatchObject({
    ok: true,
    hasMore: false,
    applies: [{ id: apply.id }, { status: 'applied' }],
  });
  const shown = await cli.run(['applies', 'show', apply.id, ...app]);
  expect([shown.exit, shown.stdout]).toEqual([
    0,
    expect.stringMatching(/^conflicted  apl_.*\nthread  thr_.*\nwhy     not_configured: .*\nconflict  a\n$/),
  ]);
  const [, applied] = all.json().applies;
  const made = await cli.run(['applies', 'show', applied.id, ...app]);
  expect(made.stdout).toContain(`head    ${applied.resultSourceId}, revision 2\n`);
});

test('--wait waits for the end, whose exit code it has; Ctrl-C ends only the wait', async () => {
  const { service, draft, create } = await conflicted();
  service.pause();
  const { id } = await create();
  const cli = testCli(service);
  const line = ['applies', 'show', id, '--wait', '--app', draft.appId];
  const waiting = cli.run([...line, '--timeout', '1s']);
  expect(await waiting).toMatchObject({
    exit: 124,
    stdout: '',
    stderr: expect.stringContaining(`headrace applies show ${id} --wait`),
  });
  const left = await cli.run(line, {
    onOutput(text) {
      if (text.includes('Merging')) cli.interrupt();
    },
  });
  expect(left).toMatchObject({
    exit: 130,
    stderr: expect.stringContaining(`The apply goes on: headrace applies show ${id} --wait`),
  });
  service.resume();
  expect((await cli.run([...line, '--json'])).exit).toBe(6);
});

test('an apply that is not there, and the beginning of an id', async () => {
  const { service, draft, create } = await conflicted();
  const { id } = await create().done();
  const cli = testCli(service);
  const show = (text: string) => cli.run(['applies', 'show', text, '--app', draft.appId]);
  expect((await show(id.slice(0, -1))).exit).toBe(0);
  expect(await show('apl_01jd0000000000000000000000')).toMatchObject({ exit: 5 });
  expect(await show('@last')).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('headrace applies list'),
  });
});

test('the words of a wait name the place in the queue, and each attempt of a repair', () => {
  const apply = {
    status: 'queued',
    threadId: 'thr_1',
    conflicts: ['a', 'b'],
    repairs: [],
  } as never as Parameters<typeof wordsOf>[0];
  expect(wordsOf(apply, 2)).toEqual(['In the queue: 2 applies are merged before this one.']);
  expect(wordsOf(apply, 0)).toEqual(['Merging with the head …']);
  const attempt = { runId: 'run_1', headSourceId: null, revision: null, startedAt: null, report: null };
  const repairs = [
    { ...attempt, error: 'conflict_markers: \u001b[2Ja' },
    { ...attempt, error: null },
  ];
  expect(wordsOf({ ...apply, repairs }, 0)).toEqual([
    'Attempt 1 was refused: conflict_markers: ␛[2Ja',
    'An agent repairs 2 files, attempt 2. → headrace attach thr_1',
  ]);
});
