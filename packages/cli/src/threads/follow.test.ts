import { createTestService } from '@headrace/client/testing';
import { describe, expect, test } from 'vitest';
import { newShop, sh } from './threads.fixture.ts';

const CTRL_C = '\u0003';
const asking = () => newShop(createTestService({ approvals: 'ask' }));
/** What a terminal was sent, without the sequences that move, erase and colour. */
// oxlint-disable-next-line no-control-regex -- terminals send them
const plain = (text: string) => text.replace(/\u001b\[[\d;?]*[A-Za-z]|\r/g, '');

describe('without a terminal', () => {
  test('replies are on stdout as they are, and the end is on stderr', async () => {
    const { run } = await newShop();
    const made = await run('thread', 'new', sh('echo hi'), '--follow');
    expect([made.exit, made.stdout]).toEqual([0, 'Ran `echo hi`:\n\n```\nhi\n```\n']);
    expect(made.stderr).toMatch(/^✓ The run completed: no file changed {2}\d+ ms, \$0\.00\n$/);
    const changed = await run('send', '```file a.txt\nA\n```', '--follow');
    expect([changed.exit, changed.stdout]).toEqual([0, 'Wrote a.txt.\n']);
    expect(changed.stderr).toMatch(
      /✓ The run completed: src_\w+ .*\n→ headrace diff -t thr_\w+ shows the change, headrace apply thr_\w+ merges/,
    );
  });

  test('a run that fails ends with 1, its error, and what to do next', async () => {
    const { run } = await newShop();
    const { exit, stdout, stderr } = await run('thread', 'new', sh('exit 3'), '--follow');
    expect([exit, stdout]).toEqual([
      1,
      'Block 1 (sh) failed: `exit 3` ended with exit code 3 without output.\n',
    ]);
    expect(stderr).toMatch(
      /✗ The run failed: script_failed .*\n {2}Block 1 .*\n→ headrace retry, or headrace send/,
    );
    expect((await run('retry', '--follow')).exit).toBe(1);
    expect((await run('attach', '@last', '--json')).exit).toBe(1);
  });

  test('nothing is followed unless it is asked for', async () => {
    const { run, service } = await newShop();
    const { exit, stdout, stderr } = await run('thread', 'new', 'hi');
    expect([exit, stdout, stderr]).toEqual([
      0,
      expect.stringMatching(/^thr_\w+ {2}run_\w+ {2}queued\n$/),
      expect.stringMatching(/^→ headrace attach thr_\w+ follows it\n$/),
    ]);
    await service.idle();
    const answered = await run('send', 'again', '--json');
    expect(answered.json()).toMatchObject({
      ok: true,
      message: { content: 'again' },
      run: { status: 'queued' },
    });
  });

  test('--json is one document with the run as it ended and the replies; --jsonl is every item', async () => {
    const { run } = await newShop();
    const made = await run('thread', 'new', sh('echo hi'), '--follow', '--json');
    expect(made.json()).toMatchObject({
      ok: true,
      thread: { id: expect.any(String) },
      message: { role: 'user' },
      run: { status: 'completed' },
      replies: [{ role: 'assistant' }],
    });
    const sent = await run('send', '-', '--follow', '--jsonl', { stdin: sh('echo two') });
    const items = sent.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string });
    expect(items.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['tool', 'message', 'run']));
    const all = await run('attach', '@last', '--json');
    expect(all.json()).toMatchObject({
      thread: { status: 'ready' },
      messages: [{}, {}, {}, {}],
      runs: [{}, {}],
    });
  });

  test('a service that goes away and comes back is said once each, and nothing is lost', async () => {
    const { run, service, client, appId } = await asking();
    await run('thread', 'new', sh('echo hi'));
    await service.idle();
    const { exit, stdout, stderr } = await run('attach', '@last', {
      onOutput(text) {
        if (text.includes('The agent asks')) {
          service.failNext('events.stream', { code: 'network', times: 2 });
          service.dropStreams();
        }
        if (text.includes('Waiting for the service')) void approve();
      },
    });
    async function approve() {
      const { items } = await client.threads.list(appId);
      const { items: approvals } = await client.approvals.list(appId, items[0]!.id);
      await client.approvals.answer(appId, items[0]!.id, approvals[0]!.id, { decision: 'approve' });
    }
    expect([exit, stdout]).toEqual([0, '> ```sh\n> echo hi\n> ```\nRan `echo hi`:\n\n```\nhi\n```\n']);
    expect(stderr.match(/Waiting for the service|The service is back/g)).toEqual([
      'Waiting for the service',
      'The service is back',
    ]);
  });

  test('the first Ctrl-C leaves, and the work goes on', async () => {
    const { run, cli, service, client, appId } = await asking();
    const left = await run('thread', 'new', sh('echo hi'), '--follow', {
      onOutput: (text) => text.includes('The agent asks') && cli.interrupt(),
    });
    expect([left.exit, left.stderr]).toEqual([
      130,
      expect.stringMatching(/The work goes on. → headrace attach thr_\w+\n$/),
    ]);
    await service.idle();
    expect((await client.threads.list(appId)).items).toMatchObject([{ status: 'waiting' }]);
    // Leaving is an answer: the same command is a new message.
    expect((await run('send', 'more')).stderr).not.toContain('Continuing');
  });

  test('--timeout ends with 124 and says how to come back', async () => {
    const { run } = await asking();
    const late = await run('thread', 'new', sh('echo hi'), '--follow', '--timeout', '1s');
    expect([late.exit, late.stderr]).toEqual([
      124,
      expect.stringMatching(/It goes on.\n {2}→ headrace attach thr_/),
    ]);
  });
});

describe('on a terminal', () => {
  const first = sh('echo one');
  const both = first + sh('echo two');

  test('the reply, the tools and the end are shown, and the screen ends without what was live', async () => {
    const { run } = await newShop();
    const { exit, stdout } = await run('thread', 'new', both, { terminal: {} });
    expect(exit).toBe(0);
    const text = plain(stdout);
    // A reply may be read before the last tool's end is heard of.
    expect(text).toMatch(/✓ sh {2}echo one.*\n {2}│ one\n\n/);
    expect(text).toMatch(/✓ sh {2}echo two.*\n {2}│ two\n\n/);
    expect(text).toContain('Ran `echo two`:\n\n```\ntwo\n```\n\n');
    expect(text).toMatch(/✓ The run completed: no file changed .*\n\n$/);
  });

  test.each([
    ['y', 'approved', 0],
    ['n', 'denied', 1],
  ] as const)('%s answers an approval in place: %s', async (key, status, exit) => {
    const { run, client, appId } = await asking();
    const answers = [['May it?', key]] as const;
    const ran = await run('thread', 'new', first, { terminal: { answers } });
    expect(ran.exit).toBe(exit);
    expect(plain(ran.stdout)).toContain('? The agent asks whether it may use sh:\n  │ echo one\n');
    expect(plain(ran.stdout)).toContain(`${status}: echo one\n`);
    const { id } = (await client.threads.list(appId)).items[0]!;
    expect((await client.approvals.list(appId, id)).items).toMatchObject([{ status }]);
  });

  test('after leaving by Ctrl-C and another key, attach shows all of it, and goes on', async () => {
    const { run, client, appId } = await asking();
    const left = await run('thread', 'new', both, {
      terminal: {
        answers: [
          ['May it?', 'y'],
          ['echo two', CTRL_C],
          ['Ctrl-C again', 'x'],
        ],
      },
    });
    expect([left.exit, plain(left.stdout)]).toEqual([
      130,
      expect.stringContaining('Ctrl-C again, or s, stops it.'),
    ]);
    const { id } = (await client.threads.list(appId)).items[0]!;
    const again = await run('attach', id, { terminal: { answers: [['May it?', 'y']] } });
    expect(again.exit).toBe(0);
    const text = plain(again.stdout);
    for (const line of ['› ```sh', '✓ sh  echo one', '✓ sh  echo two', '✓ The run completed'])
      expect([line, text.split(line).length - 1]).toEqual([line, 1]);
  });

  test.each([
    ['a second Ctrl-C', CTRL_C],
    ['s', 's'],
  ])('%s after the first stops the run, which is followed to its end', async (_, key) => {
    const { run, client, appId } = await asking();
    const answers = [
      ['May it?', CTRL_C],
      ['Ctrl-C again', key],
    ] as const;
    const { exit, stdout } = await run('thread', 'new', both, { terminal: { answers } });
    expect([exit, plain(stdout)]).toEqual([130, expect.stringMatching(/- The run was stopped .*\n\n$/)]);
    const { id } = (await client.threads.list(appId)).items[0]!;
    expect((await client.runs.list(appId, id)).items).toMatchObject([{ status: 'cancelled' }]);
  });

  test('a thread that is deleted meanwhile is said to be, with 5', async () => {
    const { run, client, appId } = await asking();
    const { id } = (await run('thread', 'new', '--json')).json().thread;
    let isDeleted = false;
    const { exit, stderr } = await run('send', first, {
      terminal: {},
      onOutput(text) {
        if (isDeleted || !text.includes('May it?')) return;
        isDeleted = true;
        void client.threads.delete(appId, id).withResponse();
      },
    });
    expect([exit, plain(stderr)]).toEqual([
      5,
      expect.stringContaining('The thread was deleted meanwhile.\n'),
    ]);
  });

  test('escape sequences of tools and replies are shown, not sent', async () => {
    const output = 'a\u001b]0;owned\u0007\u001b[2Jb\r\u009b31m\n';
    const { run } = await newShop(createTestService({ shell: () => ({ output }) }));
    const { stdout } = await run('thread', 'new', sh('x'), { terminal: {} });
    expect(plain(stdout)).toContain('  │ a␛]0;owned␇␛[2Jb␍<009B>31m\n');
    for (const sequence of ['owned\u0007', '\u001b[2J', '\u009b']) expect(stdout).not.toContain(sequence);
  });
});
