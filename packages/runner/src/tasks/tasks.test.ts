import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { ExecRequest, JournalEntry, TurnRequest } from '../protocol.ts';
import { capture } from '../capture/capture.ts';
import { endOf, entriesOf, makeBench, outputOf, tarStream, type Files } from '../runner.fixture.ts';
import type { Task } from './task.ts';

const SCRIPTED = {
  name: 'scripted',
  command: null,
  folder: null,
  env: {},
  home: {},
  mode: null,
  install: null,
};
const bench = await makeBench();
let counter = 0;
const next = (prefix: string): string => `${prefix}_${++counter}`;

async function workspace(files: Files = {}): Promise<string> {
  const id = next('thr');
  await bench!.workspaces.put(id, tarStream(files));
  return id;
}

const exec = (
  workspaceId: string,
  command: string,
  more: Partial<ExecRequest> = {},
): Promise<JournalEntry[]> =>
  bench!.run(next('op'), { kind: 'exec', workspaceId, command, timeoutMs: 20_000, ...more });
const start = (workspaceId: string, prompt: string, more: Partial<TurnRequest> = {}): Task =>
  bench!.tasks.start(next('run'), {
    kind: 'turn',
    workspaceId,
    agent: SCRIPTED,
    prompt,
    permissions: 'allow',
    timeoutMs: 30_000,
    ...more,
  }).task;
const sh = (command: string): string => `\`\`\`sh\n${command}\n\`\`\`\n`;
const textOf = (entries: JournalEntry[]): string =>
  entries.map((e) => (e.type === 'text' ? e.content : '')).join('');
const toolsOf = (entries: JournalEntry[]): string[] =>
  entries.flatMap((e) => (e.type === 'tool' ? [`${e.toolCallId}:${e.status}`] : []));
const filesOf = async (id: string): Promise<string[]> =>
  (await capture(bench!.host, bench!.workspaces.get(id), [])).files.map((f) => f.path).sort();

/** Reads until an entry is accepted; what the task does later stays in its journal. */
async function until(task: Task, accept: (entry: JournalEntry) => boolean): Promise<JournalEntry> {
  for await (const entry of task.journal.read(0, AbortSignal.timeout(20_000)))
    if (accept(entry)) return entry;
  throw new Error('the journal ended before');
}

describe.skipIf(!bench)('a turn of the scripted agent', () => {
  test('does its blocks in order and says what each did', async () => {
    const id = await workspace({ 'README.md': '# App\n' });
    const entries = await entriesOf(
      start(
        id,
        `Hello.\n\n\`\`\`file notes/zebra.md\nz\n\`\`\`\n${sh('echo from-the-shell-42; cat notes/zebra.md')}\n\`\`\`patch\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# App\n+# Apps\n\`\`\`\n`,
      ),
    );
    expect(endOf(entries)).toMatchObject({ outcome: 'completed', error: null });
    expect(textOf(entries)).toMatch(/notes\/zebra\.md[^]*from-the-shell-42\nz\n[^]*README\.md/);
    expect(toolsOf(entries)).toEqual(['call-2:pending', 'call-2:running', 'call-2:completed']);
    expect(entries.find((e) => e.type === 'tool')).toMatchObject({
      name: 'sh',
      title: 'echo from-the-shell-42; cat notes/zebra.md',
      input: { command: 'echo from-the-shell-42; cat notes/zebra.md\n' },
    });
    expect(await filesOf(id)).toEqual(['README.md', 'notes/zebra.md']);
  });

  test('ends at the first block that fails, with its output', async () => {
    const id = await workspace();
    const entries = await entriesOf(
      start(
        id,
        `${sh('touch half')}${sh('echo before-the-fall; echo on-stderr >&2; false; echo after')}${sh('touch never')}`,
      ),
    );
    expect(endOf(entries)).toMatchObject({ outcome: 'failed', error: { code: 'script_failed' } });
    expect(textOf(entries)).toMatch(/before-the-fall\non-stderr\n```/);
    expect(toolsOf(entries).at(-1)).toBe('call-2:failed');
    expect(await filesOf(id)).toEqual(['half']);
  });

  test.each(['../x', '/tmp/x', 'a/../../x', 'link/x', 'dangling'])(
    'a file block cannot write to %s',
    async (path) => {
      const id = await workspace();
      await exec(id, 'ln -s /tmp link; ln -s /tmp/none dangling');
      expect(endOf(await entriesOf(start(id, `\`\`\`file ${path}\nx\n\`\`\`\n`)))).toMatchObject({
        outcome: 'failed',
        error: { code: 'script_failed' },
      });
    },
  );

  test('without a block it says how to configure a model', async () => {
    const entries = await entriesOf(start(await workspace(), 'Make it blue.\n\n```js\nthrow 1\n```\n'));
    expect(endOf(entries)).toMatchObject({ outcome: 'completed' });
    expect(textOf(entries)).toMatch(/configure a model/);
  });

  test('a tool call ends with its shell, whatever stays in the background, and its output is cut', async () => {
    const at = Date.now();
    const entries = await entriesOf(
      start(await workspace(), sh('sleep 60 & head -c 100000 /dev/zero | tr "\\0" x')),
    );
    expect(Date.now() - at).toBeLessThan(5000);
    const tool = entries.findLast((e) => e.type === 'tool');
    expect(tool).toMatchObject({ status: 'completed', truncated: true });
    expect(tool?.type === 'tool' && tool.output?.length).toBe(64 * 1024);
  });

  test('asks before each call where it is to ask; a denied block fails', async () => {
    const id = await workspace();
    const task = start(id, `${sh('touch one')}${sh('touch two')}`, { permissions: 'ask' });
    for (const [call, isAllowed] of [
      ['call-1', true],
      ['call-2', false],
    ] as const) {
      const asked = await until(task, (e) => e.type === 'permission' && e.toolCallId === call);
      if (asked.type === 'permission') task.answerPermission(asked.requestId, isAllowed);
    }
    const entries = await entriesOf(task);
    expect(endOf(entries)).toMatchObject({ outcome: 'failed', error: { code: 'script_failed' } });
    expect(toolsOf(entries)).toEqual([
      'call-1:pending',
      'call-1:running',
      'call-1:completed',
      'call-2:pending',
      'call-2:failed',
    ]);
    expect(await filesOf(id)).toEqual(['one']);
  });

  test('a cancel ends a command that ignores signals and forks, and the call, within a second', async () => {
    const id = await workspace();
    const task = start(
      id,
      sh(
        'trap "" TERM INT HUP; (trap "" TERM; while :; do sleep 0.1; done) & setsid sleep 1000 & sleep 1000',
      ),
    );
    await until(task, (e) => e.type === 'tool' && e.status === 'running');
    const at = Date.now();
    await task.cancel();
    expect(Date.now() - at).toBeLessThan(1000);
    const entries = await entriesOf(task);
    expect([endOf(entries).outcome, toolsOf(entries).at(-1)]).toEqual(['cancelled', 'call-1:cancelled']);
    expect(endOf(await exec(id, 'true')).exitCode).toBe(0);
  });

  test('finds its evidence, which no capture sees', async () => {
    const id = await workspace({ a: 'a' });
    const entries = await entriesOf(
      start(id, sh('cat .hoplite/repair/conflicts.json; echo "{}" > .hoplite/repair/report.json'), {
        evidence: [
          {
            path: '.hoplite/repair/conflicts.json',
            content: Buffer.from('["x"]').toString('base64'),
            encoding: 'base64',
          },
        ],
      }),
    );
    expect(textOf(entries)).toContain('["x"]');
    expect(await capture(bench!.host, bench!.workspaces.get(id), ['a'])).toMatchObject({
      files: [{ path: 'a' }],
      warnings: [],
    });
  });

  test('takes longer than its time: failed', async () => {
    expect(
      endOf(await entriesOf(start(await workspace(), sh('sleep 60'), { timeoutMs: 500 }))),
    ).toMatchObject({ outcome: 'failed', timedOut: true, error: { code: 'agent_error' } });
  });

  test('a long command and a long message work', async () => {
    const entries = await entriesOf(
      start(await workspace(), sh(`echo start\n: ${'ä'.repeat(90_000)}\necho end`)),
    );
    expect(endOf(entries)).toMatchObject({ outcome: 'completed' });
  });
});

describe.skipIf(!bench)('a turn of another agent', () => {
  const agent = (code: string): Partial<TurnRequest> => ({
    agent: { ...SCRIPTED, name: 'other', command: ['node', '-e', code], env: { KEY: 'value' } },
  });

  test('that dies is an agent error with its last words', async () => {
    expect(
      endOf(
        await entriesOf(start(await workspace(), 'x', agent('console.error("no licence"); process.exit(4)'))),
      ),
    ).toMatchObject({
      outcome: 'failed',
      error: { code: 'agent_error', message: expect.stringContaining('no licence') as string },
    });
  });

  test('that talks nonsense is an agent error or times out, never more', async () => {
    const end = endOf(
      await entriesOf(
        start(await workspace(), 'x', {
          ...agent('console.log("]["); console.log("{}"); setInterval(() => {}, 1000)'),
          timeoutMs: 2000,
        }),
      ),
    );
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'agent_error' } });
  });

  test('that refuses a request is an agent error', async () => {
    const code =
      'require("readline").createInterface({input:process.stdin}).on("line",(l)=>console.log(JSON.stringify({jsonrpc:"2.0",id:JSON.parse(l).id,error:{code:-32000,message:"not signed in"}})))';
    expect(endOf(await entriesOf(start(await workspace(), 'x', agent(code))))).toMatchObject({
      error: { code: 'agent_error', message: expect.stringContaining('not signed in') as string },
    });
  });
});

describe.skipIf(!bench)('exec', () => {
  test('keeps the streams apart and tells the exit code', async () => {
    const entries = await exec(
      await workspace({ 'a.txt': 'content ä\n' }),
      'cat a.txt -; echo wrong >&2; exit 3',
      { stdin: 'in' },
    );
    expect([
      outputOf(entries, 'stdout'),
      outputOf(entries, 'stderr'),
      endOf(entries).exitCode,
      endOf(entries).signal,
    ]).toEqual(['content ä\nin', 'wrong\n', 3, null]);
  });

  test('a command that runs too long is ended', async () => {
    const entries = await exec(await workspace(), 'echo before; sleep 60', { timeoutMs: 500 });
    expect([outputOf(entries), endOf(entries)]).toMatchObject([
      'before\n',
      { outcome: 'completed', timedOut: true, exitCode: null, signal: 'SIGKILL', error: null },
    ]);
  });

  test('a death by signal is told', async () => {
    expect(endOf(await exec(await workspace(), 'kill -9 $$'))).toMatchObject({
      exitCode: 137,
      signal: 'SIGKILL',
      outcome: 'completed',
    });
  });

  test('much output is kept up to a bound and never blocks', async () => {
    const entries = await exec(await workspace(), 'head -c 30000000 /dev/zero | tr "\\0" x; echo whole >&2');
    expect([outputOf(entries, 'stdout').length, outputOf(entries, 'stderr')]).toEqual([
      4 * 1024 * 1024,
      'whole\n',
    ]);
    expect(entries.every((e) => e.type !== 'output' || Buffer.byteLength(e.text) <= 64 * 1024)).toBe(true);
  });

  test('one id is one task, and one workspace takes one task at a time', async () => {
    const id = await workspace();
    const request = {
      kind: 'exec',
      workspaceId: id,
      command: 'echo x >> log; sleep 0.3',
      timeoutMs: 9000,
    } as const;
    const name = next('op');
    const { task, isNew } = bench!.tasks.start(name, request);
    expect([isNew, bench!.tasks.start(name, request).isNew]).toEqual([true, false]);
    expect(() => bench!.tasks.start(next('op'), request)).toThrow(
      expect.objectContaining({ status: 409, code: 'busy' }) as Error,
    );
    await expect(bench!.workspaces.put(id, tarStream({}))).rejects.toMatchObject({ code: 'busy' });
    await task.ended;
    expect(outputOf(await exec(id, 'cat log'))).toBe('x\n');
  });

  test('what a preview of the workspace takes more than its disk is ended', async () => {
    const entries = await exec(
      await workspace(),
      'i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); sleep 0.02; done',
      { limits: { diskBytes: 5 * 1024 ** 2 } },
    );
    expect(endOf(entries)).toMatchObject({
      outcome: 'failed',
      error: { code: 'sandbox_lost', message: expect.stringContaining('5 MiB') as string },
    });
  });
});

describe.skipIf(!bench)('a build', () => {
  async function build(
    command: string,
    outputDirectory = 'dist',
    files: Files = { 'a.txt': 'a\n' },
  ): Promise<{ task: Task; entries: JournalEntry[] }> {
    const { task } = bench!.tasks.start(next('bld'), {
      kind: 'build',
      command,
      outputDirectory,
      timeoutMs: 20_000,
    });
    await task.putSource(tarStream(files));
    return { task, entries: await entriesOf(task) };
  }
  /** { path: type } from the tar's headers. */
  const typesIn = (archive: Buffer): Record<string, string> => {
    const types: Record<string, string> = {};
    for (
      let at = 0;
      archive[at];
      at += 512 + Math.ceil(Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8) / 512) * 512
    )
      types[archive.toString('utf8', at, archive.indexOf(0, at))] = archive.toString(
        'latin1',
        at + 156,
        at + 157,
      );
    return types;
  };

  test('sees exactly its source and gives its output folder as it is', async () => {
    const { task, entries } = await build(
      'set -e; find . -type f | sort; mkdir -p dist/sub; cp a.txt dist/sub; ln -s a dist/link; mkfifo dist/pipe',
    );
    expect([outputOf(entries), endOf(entries).exitCode]).toEqual(['./a.txt\n', 0]);
    expect(typesIn(await buffer(await task.output()))).toEqual({
      './': '5',
      './link': '2',
      './pipe': '6',
      './sub/': '5',
      './sub/a.txt': '0',
    });
  });

  test.each([
    ['true', 'dist', 404, 'output_missing'],
    ['echo x > dist', 'dist', 409, 'output_invalid'],
    ['mkdir real; ln -s real dist', 'dist', 409, 'output_invalid'],
    ['mkdir -p real/sub; ln -s real dist', 'dist/sub', 409, 'output_invalid'],
    ['ln -s /etc dist', 'dist', 409, 'output_invalid'],
    ['mkdir dist; ln a.txt dist/a', 'dist', 409, 'output_invalid'],
    ['mkdir dist; echo x > dist/x; chmod 000 dist/x', 'dist', 409, 'output_invalid'],
  ])('after %j its output %s is %d %s', async (command, folder, status, code) => {
    const { task } = await build(command, folder);
    await expect(task.output()).rejects.toMatchObject({
      status,
      code,
      message: expect.stringContaining('dist') as string,
    });
  });

  test('big outputs come whole', async () => {
    const { task } = await build('mkdir dist; head -c 20000000 /dev/urandom > dist/big');
    expect((await buffer(await task.output())).length).toBeGreaterThan(20_000_000);
  });

  test('cancelled before its source it ends at once', async () => {
    const { task } = bench!.tasks.start(next('bld'), {
      kind: 'build',
      command: 'true',
      outputDirectory: '.',
      timeoutMs: 9000,
    });
    await task.cancel();
    expect(endOf(await entriesOf(task)).outcome).toBe('cancelled');
  });
});

describe.skipIf(!bench)('a preview', () => {
  const SERVER =
    "import { createServer } from 'node:http'; import { readFileSync } from 'node:fs'; createServer((q, s) => s.end(readFileSync('page'))).listen(3210, process.env.AT);";
  const get = async (task: Task): Promise<string> => {
    const pipe = await task.connect();
    pipe.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    return (await text(pipe)).split('\r\n\r\n')[1]!;
  };

  test.each(['127.0.0.1', '::1', '0.0.0.0'])('on %s is reached, and shows newer files', async (at) => {
    const { task } = bench!.tasks.start(next('prv'), {
      kind: 'preview',
      command: `AT=${at} node server.mjs`,
      port: 3210,
      timeoutMs: 60_000,
    });
    await task.putSource(tarStream({ 'server.mjs': SERVER, page: 'first' }));
    await until(task, (e) => e.type === 'listening');
    expect(await get(task)).toBe('first');
    await task.putSource(tarStream({ '.headrace-patch.json': '{"delete":[]}', page: 'second' }));
    expect(await get(task)).toBe('second');
    await bench!.tasks.remove(task.id);
    await expect(task.connect()).rejects.toMatchObject({ status: 502 });
  });

  test('gets one first source, though a second one comes while that is being made; patches in their order', async () => {
    const { task } = bench!.tasks.start(next('prv'), {
      kind: 'preview',
      command: 'node server.mjs',
      port: 3210,
      timeoutMs: 60_000,
    });
    const keep = { key: next('src'), group: 'prj_1' };
    const slow = new PassThrough();
    const first = task.putSource(slow, { keep });
    const second = task.putSource(tarStream({ 'server.mjs': SERVER, page: 'other' }), {
      keep: { ...keep, key: next('src') },
    });
    const third = task.putSource(undefined, { base: keep.key });
    tarStream({ 'server.mjs': SERVER, page: 'first' }).pipe(slow);
    await first;
    await expect(second).rejects.toMatchObject({ status: 409 });
    await expect(third).rejects.toMatchObject({ status: 409 });
    await until(task, (e) => e.type === 'listening');
    expect(await get(task)).toBe('first');
    const patch = (page: string, into: PassThrough) =>
      tarStream({ '.headrace-patch.json': '{"delete":[]}', page }).pipe(into);
    const [slowPatch, fastPatch] = [new PassThrough(), new PassThrough()];
    const patched = [task.putSource(slowPatch), task.putSource(fastPatch)];
    patch('third', fastPatch);
    await new Promise(setImmediate);
    patch('second', slowPatch);
    await Promise.all(patched);
    expect(await get(task)).toBe('third');
    await bench!.tasks.remove(task.id);
  });

  test('where nothing listens is told', async () => {
    const { task } = bench!.tasks.start(next('prv'), {
      kind: 'preview',
      command: 'sleep 60',
      port: 3210,
      timeoutMs: 60_000,
    });
    await task.putSource(tarStream({}));
    await until(task, (e) => e.type === 'started');
    await expect(task.connect()).rejects.toMatchObject({ status: 502, code: 'not_listening' });
    await task.cancel();
  });

  test('whose command ends has ended', async () => {
    const { task } = bench!.tasks.start(next('prv'), {
      kind: 'preview',
      command: 'echo no server >&2; exit 3',
      port: 3210,
      timeoutMs: 60_000,
    });
    await task.putSource(tarStream({}));
    const entries = await entriesOf(task);
    expect([endOf(entries).exitCode, outputOf(entries, 'stderr')]).toEqual([3, 'no server\n']);
  });
});
