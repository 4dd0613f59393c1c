/** Which sandboxes have which variables, in real ones; and that what comes out of them, and is stored, is masked. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newBench, until } from '../builds/builds.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';

const SECRET = 'a "secret" of the app';
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer();
});
afterAll(async () => {
  await s?.close();
});

async function bench() {
  const made = await newBench(s);
  return {
    ...made,
    set: async (name: string, body: object) =>
      expect((await s.call('PUT', `${made.url}/environment/${name}`, body)).status).toBe(200),
    exec: async (command: string) => {
      const answer = await s.call('POST', `${made.thread}/exec`, { command });
      expect([answer.status, answer.text]).toEqual([200, answer.text]);
      return answer.body.exec;
    },
    run: async (content: string) => {
      const { run } = (await s.call('POST', `${made.thread}/messages`, { content })).body;
      const ended = async () =>
        (await s.call('GET', `${made.thread}/runs/${run.id}?waitSeconds=30`)).body.run;
      return ended();
    },
  };
}
const sh = (...lines: string[]) => ['```sh', ...lines, '```'].join('\n');

test('each has the variables that are for it, of the moment when it starts', async () => {
  const b = await bench();
  for (const target of ['run', 'exec', 'build'])
    await b.set(`FOR_${target}`, { value: `value for ${target}`, targets: [target] });
  await b.set('SECRET', { value: SECRET, secret: true });
  await b.set('LANG', { value: 'of the app' });
  await b.set('constructor', { value: 'no member of an object' });
  const show = 'env | grep -E "^(FOR_|SECRET|LANG|constructor)" | sort';
  const common = ['LANG=C.UTF-8', 'constructor=no member of an object'];
  expect((await b.exec(show)).stdout.trim().split('\n')).toEqual([
    'FOR_exec=value for exec',
    'LANG=C.UTF-8',
    'SECRET=***',
    'constructor=no member of an object',
  ]);
  const build = await b.submit(`mkdir dist; ${show}; touch dist/a`);
  await b.ended(build.id);
  expect((await b.logs(build.id)).text.trim().split('\n')).toEqual([
    'FOR_build=value for build',
    'LANG=C.UTF-8',
    'SECRET=***',
    common[1],
  ]);
  await b.run(sh(`${show} > seen.txt`));
  expect((await b.exec('cat seen.txt')).stdout.trim().split('\n')).toEqual([
    'FOR_run=value for run',
    ...common,
  ]);
  await b.set('FOR_exec', { value: 'another' });
  expect((await b.exec('echo "$FOR_exec"')).stdout).toBe('another\n');
});

test('a preview has those for previews; why it failed is masked', async () => {
  const b = await bench();
  await b.set('OF_PREVIEW', { value: 'value', targets: ['preview'] });
  await b.set('OF_EXEC', { value: 'value', targets: ['exec'] });
  await b.set('SECRET', { value: SECRET, secret: true });
  const { preview } = (
    await s.call('POST', `${b.thread}/previews`, {
      command: 'echo "no server: $SECRET, ${OF_PREVIEW-unset}, ${OF_EXEC-unset}" >&2; exit 3',
      port: 3999,
    })
  ).body;
  const read = async () => (await s.call('GET', `${b.url}/previews/${preview.id}`)).body.preview;
  await until(async () => (await read()).status === 'failed');
  expect(JSON.stringify((await read()).error)).toContain('no server: ***, value, unset');
});

test('no table, no event and no command line of the host has a secret; a run names the files that hold it', async () => {
  const b = await bench();
  await b.set('SECRET', { value: SECRET, secret: true, targets: ['run', 'exec'] });
  const running = s.call('POST', `${b.thread}/exec`, {
    command: 'echo "$SECRET"; cat > /dev/null; sleep 1.0625',
    stdin: '',
  });
  const seen = new Set<string>();
  let isSandboxSeen = false;
  let isRunning = true;
  void running.finally(() => (isRunning = false));
  await until(() => {
    for (const text of commandLines()) {
      if (text.includes(SECRET)) seen.add(text);
      // The control: of the sandbox's processes, one has this argument.
      isSandboxSeen ||= text === 'sleep\u00001.0625\u0000';
    }
    return Promise.resolve(!isRunning);
  });
  expect([isSandboxSeen, [...seen]]).toEqual([true, []]);
  expect((await running).body.exec.stdout).toBe('***\n');

  const run = await b.run(sh('echo "$SECRET"', 'echo "x $SECRET" > leaked.txt', 'echo fine > fine.txt'));
  expect(run.warnings).toEqual([{ path: 'leaked.txt', reason: 'secret' }]);
  const next = await b.run(sh('echo more > more.txt'));
  expect(next.warnings).toEqual([]);
  const { db } = s.service.ctx;
  for (const table of ['messages', 'tools', 'runs', 'execs', 'operations', 'events', 'outbox'] as const) {
    const rows = JSON.stringify(await db.selectFrom(table).selectAll().execute());
    expect([table, rows.includes('secret\\" of') || rows.includes('secret\\\\\\" of')]).toEqual([
      table,
      false,
    ]);
  }
});

/** Of all processes of this machine that can be seen. */
function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
      } catch {
        return []; // it has ended
      }
    });
}
