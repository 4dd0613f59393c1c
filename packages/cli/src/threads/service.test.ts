/** Threads on a real service, with its agent, its sandbox and its streams. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { newBench, ok, sh } from '@headrace/server/threads/threads.fixture.ts';
import type { Bench } from '@headrace/server/threads/threads.fixture.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';
import type { RunOptions } from '../cli.fixture.ts';
import { ptyTest, terminal } from '../cli.pty.fixture.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

const ASK = { approvals: [{ tool: 'sh', decision: 'ask' }] };
const cliOf = (b: Bench) => {
  const cli = testCli({ url: s.base, key: s.key });
  const env = { HEADRACE_APP: b.appId };
  return { ...cli, run: (argv: string[], options: RunOptions = {}) => cli.run(argv, { ...options, env }) };
};

/** All ids of a thread, as the API has them. */
async function idsOf(b: Bench): Promise<string[]> {
  const ids = (items: { id: string }[]) => items.map(({ id }) => id);
  const runs = await b.list('runs');
  const tools = await Promise.all(
    ids(runs).map(async (id) => (await ok(s.call('GET', `${b.at}/runs/${id}/tools`))).tools),
  );
  return [...ids(await b.list('messages')), ...ids(runs), ...tools.flatMap(ids)].sort();
}

ptyTest(
  'on a pseudo-terminal: approve, leave by Ctrl-C, attach, approve always: nothing is lost',
  async () => {
    const b = await newBench(s, { settings: ASK });
    const env = { HEADRACE_APP: b.appId };
    const service = { url: s.base, key: s.key };
    const content = `${sh(String.raw`printf 'one \033]0;owned\007\033[2J\n'`)}\n${sh('echo two')}\n${sh('echo two')}`;
    const sent = terminal(['send', b.threadId, content], { service, env });
    await sent.waitFor('May it? y yes, n no, a always in this thread');
    sent.type('y');
    await sent.waitFor(/│ echo two\n(.*\n)*May it\?/);
    sent.press('ctrl-c');
    await sent.waitFor('The work goes on. Ctrl-C again, or s, stops it.');
    sent.type('x');
    expect(await sent.exit).toBe(130);
    expect(sent.screen().at(-1)).toBe(`The work goes on. → headrace attach ${b.threadId}`);
    expect(sent.history().join('\n')).toContain('│ one ␛]0;owned␇␛[2J');
    expect(sent.sent()).not.toContain('owned\u0007');
    expect(await b.thread()).toMatchObject({ status: 'waiting' });

    const again = terminal(['attach', b.threadId], { service, env, columns: 60, rows: 16 });
    await again.waitFor('May it?');
    again.resize(40, 12);
    again.type('a');
    expect(await again.exit).toBe(0);
    const text = again.history().join('\n');
    expect(text.match(/✓ sh {2}\S+/g)).toEqual(['✓ sh  printf', '✓ sh  echo', '✓ sh  echo']);
    expect(text).toContain('✓ The run completed: no file changed');
    expect((await b.list('approvals')).map(({ status }: { status: string }) => status)).toEqual([
      'approved',
      'approved',
    ]);

    const ids = await idsOf(b);
    const lines = await cliOf(b).run(['attach', b.threadId, '--jsonl']);
    const items = lines.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, { id: string }> & { kind: string });
    const seen = items
      .filter(({ kind }) => ['message', 'run', 'tool'].includes(kind))
      .map((item) => item[item.kind]!.id);
    expect(seen.sort()).toEqual(ids);
  },
);

test('a message that is sent while the agent works is answered, too; attach shows both replies', async () => {
  const b = await newBench(s, { settings: ASK });
  const { run } = cliOf(b);
  await run(['send', b.threadId, sh('echo one')]);
  let isSent = false;
  const attached = await run(['attach', b.threadId], {
    terminal: {
      answers: [
        ['May it?', 'y'],
        ['│ echo more', 'y'],
      ],
    },
    onOutput(text) {
      if (isSent || !text.includes('May it?')) return;
      isSent = true;
      void run(['send', b.threadId, sh('echo more')]);
    },
  });
  expect(attached.exit).toBe(0);
  // First as drafts, then as messages.
  expect([...new Set(attached.stdout.match(/Ran `echo \w+`/g))]).toEqual([
    'Ran `echo one`',
    'Ran `echo more`',
  ]);
});

test('a second Ctrl-C stops the run', async () => {
  const b = await newBench(s);
  const { run } = cliOf(b);
  const answers = [
    ['• sh', '\u0003'],
    ['Ctrl-C again', '\u0003'],
  ] as const;
  const { exit, stdout } = await run(['send', b.threadId, sh('sleep 60')], { terminal: { answers } });
  expect([exit, stdout]).toEqual([130, expect.stringContaining('The run was stopped')]);
  expect(await run(['stop', b.threadId])).toMatchObject({
    exit: 6,
    stderr: expect.stringContaining('No run is'),
  });
});

test('a thread that is deleted while it is followed is said to be', async () => {
  const b = await newBench(s, { settings: ASK });
  const { run } = cliOf(b);
  const { exit, stderr } = await run(['send', b.threadId, sh('echo one'), '--follow'], {
    onOutput: (text) => text.includes('The agent asks') && void s.call('DELETE', b.at),
  });
  expect([exit, stderr]).toEqual([5, expect.stringContaining('The thread was deleted meanwhile.')]);
});

test('a thread that is named by its whole id is followed without an app', async () => {
  const b = await newBench(s);
  const { run } = testCli({ url: s.base, key: s.key });
  const { exit, stdout } = await run(['send', b.threadId, sh('sleep 0.3; echo hi'), '--jsonl', '--follow']);
  const kinds = new Set(
    stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { kind: string }).kind),
  );
  expect([exit, [...kinds].sort()]).toEqual([
    0,
    expect.arrayContaining(['message', 'run', 'thread', 'tool']),
  ]);
});

test('a thread of a Direct project is sent to, followed and edited', async () => {
  const { project } = await ok(s.call('POST', '/api/projects', { name: 'Direct' }));
  const at = `/api/projects/${project.id}`;
  const { source } = await ok(s.call('POST', `${at}/sources`, { files: [{ path: 'a', content: 'a' }] }));
  await ok(s.call('POST', `${at}/source-head/initialize`, { sourceId: source.id }));
  const { thread } = await ok(s.call('POST', '/api/threads', { projectId: project.id }));
  const { run } = testCli({ url: s.base, key: s.key });
  const { exit, stdout } = await run(['send', thread.id, sh('echo hi'), '--follow']);
  expect([exit, stdout]).toEqual([0, 'Ran `echo hi`:\n\n```\nhi\n```\n']);
  expect((await run(['edit', thread.id, 'a', '--delete'])).exit).toBe(0);
  expect((await run(['edit', thread.id, 'a', '--delete'])).exit).toBe(5);
});

test('attachments are sent with their types', async () => {
  const b = await newBench(s);
  const cli = cliOf(b);
  writeFileSync(join(cli.cwd, 'note.md'), '# hi\n');
  const sent = await cli.run(['send', b.threadId, 'look', '--attach', 'note.md', '--json']);
  expect(sent.json().message.attachments).toEqual([{ index: 0, mediaType: 'text/markdown', byteSize: 5 }]);
  expect((await cli.run(['send', b.threadId, 'look', '--attach', 'none'])).exit).toBe(2);
});

describe('exec', () => {
  test('streams both outputs, passes stdin, and ends with the exit code of the command', async () => {
    const b = await newBench(s);
    const { run } = cliOf(b);
    let pieces = 0;
    const ran = await run(
      ['exec', b.threadId, '--', 'cat; echo err >&2; sleep 0.3; echo x > x.txt; exit 7'],
      {
        stdin: 'in\u001b[1m\n',
        onOutput: () => pieces++,
      },
    );
    expect([ran.exit, ran.stdout]).toEqual([7, 'in\u001b[1m\n']);
    expect(ran.stderr).toMatch(/^err\nsrc_\w+\n→ headrace diff -t thr_\w+ shows the change/);
    expect(pieces).toBeGreaterThan(2);
    const words = await run(['exec', b.threadId, '--json', '--', 'echo', "it's", 'a b']);
    expect([words.exit, words.json().exec]).toMatchObject([0, { stdout: "it's a b\n", exitCode: 0 }]);
    const killed = await run(['exec', b.threadId, '--timeout', '1s', '--', 'sleep', '30']);
    expect([killed.exit, killed.stderr]).toEqual([124, expect.stringContaining('its time was over')]);
  });

  test('goes on after Ctrl-C: the same line again shows its output and its end, and the command ran once', async () => {
    const b = await newBench(s);
    const cli = cliOf(b);
    const argv = ['exec', b.threadId, '--', 'echo one; sleep 0.5; echo two >> a.txt; cat a.txt'];
    const left = await cli.run(argv, { onOutput: (text) => text.includes('one') && cli.interrupt() });
    expect([left.exit, left.stderr]).toEqual([130, expect.stringContaining('→ The command goes on.')]);
    expect(await cli.run(argv)).toMatchObject({ exit: 0, stdout: 'one\na\ntwo\n' });
  });

  test('a connection that is lost is continued: the output is printed once', async () => {
    const b = await newBench(s);
    let cuts = 0;
    const cli = testCli({
      url: s.base,
      key: s.key,
      async fetch(input, init) {
        const answer = await fetch(input, init);
        if (!answer.headers.get('content-type')?.includes('event-stream') || cuts++ > 0) return answer;
        const { value } = await answer.body!.getReader().read();
        return new Response(value, { headers: answer.headers });
      },
    });
    const ran = await cli.run(['exec', b.threadId, '--', 'echo one; sleep 0.5; echo two'], {
      env: { HEADRACE_APP: b.appId },
    });
    expect([ran.exit, ran.stdout, cuts]).toEqual([0, 'one\ntwo\n', 1]);
  });
});

describe('edit', () => {
  test('a file is replaced, made and deleted; one that is not there is not', async () => {
    const b = await newBench(s);
    const cli = cliOf(b);
    writeFileSync(join(cli.cwd, 'new'), Buffer.from([0, 255]));
    const edited = await cli.run(['edit', b.threadId, 'a.txt', '--file', '-', '-m', 'why', '--json'], {
      stdin: 'A\n',
    });
    expect([edited.exit, edited.json().source]).toMatchObject([0, { origin: 'edit', message: 'why' }]);
    expect((await cli.run(['edit', b.threadId, 'b/c', '--file', 'new'])).exit).toBe(0);
    const stdin = Buffer.from([0, 254]);
    expect((await cli.run(['edit', b.threadId, 'b/d', '--file', '-'], { stdin })).exit).toBe(0);
    expect((await cli.run(['edit', b.threadId, 'none', '--delete'])).exit).toBe(5);
    const { latestSourceId } = await b.thread();
    expect(await b.files(latestSourceId)).toEqual({ 'a.txt': 'A\n', 'b/c': 'AP8=', 'b/d': 'AP4=' });
    expect((await cli.run(['edit', b.threadId, 'a.txt', '--delete'])).exit).toBe(0);
    const [first] = (await cli.run(['checkpoints', b.threadId, '--json'])).json().checkpoints.toReversed();
    const restored = await cli.run(['thread', 'restore', b.threadId, first.id, '--json']);
    expect([restored.exit, restored.json().run]).toMatchObject([0, { status: 'completed', kind: 'restore' }]);
    expect(await b.files((await b.thread()).latestSourceId)).toEqual({ 'a.txt': 'A\n' });
    expect((await cli.run(['thread', 'restore', b.threadId, b.sourceId])).exit).toBe(0);
    const exported = await cli.run(['thread', 'export', b.threadId, '--json']);
    expect(exported.json().export).toMatchObject({ formatVersion: 1, runs: [{}, {}] });
  });

  ptyTest('in the editor; a thread that changes meanwhile is a conflict, and the text is kept', async () => {
    const b = await newBench(s);
    const { cwd } = testCli();
    const env = {
      HEADRACE_APP: b.appId,
      TMPDIR: cwd,
      EDITOR: `sh -c 'echo mine > "$0"; echo opened; read -r line'`,
    };
    const editing = terminal(['edit', b.threadId, 'a.txt'], { service: { url: s.base, key: s.key }, env });
    await editing.waitFor('opened');
    const changes = [{ path: 'a.txt', content: 'theirs\n' }];
    await ok(s.call('POST', `${b.at}/edits`, { expectedSourceId: b.sourceId, changes }));
    editing.press('enter');
    expect(await editing.exit).toBe(6);
    const text = editing.history().join('');
    const [, kept] = /The text is kept: (\S+a\.txt)/.exec(text)!;
    expect(readFileSync(kept!, 'utf8')).toBe('mine\n');
  });
});
