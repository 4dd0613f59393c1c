import { describe, expect, test } from 'vitest';
import { newBench } from './builds.fixture.ts';

const ID = 'set_01k9x3v5e8f7arh2m4t6w8y0zb';
const SETUP = {
  id: ID,
  projectId: 'prj_01k9x3v5e8f7arh2m4t6w8y0zb',
  key: 'a'.repeat(64),
  command: 'npm ci',
  sourceId: 'src_01k9x3v5e8f7arh2m4t6w8y0zb',
  status: 'queued',
  exitCode: null,
  error: null,
  byteSize: null,
  createdAt: '2026-01-31T09:30:00.000Z',
  startedAt: null,
  finishedAt: null,
};
const TIMES = { startedAt: '2026-01-31T09:30:01.000Z', finishedAt: '2026-01-31T09:30:03.000Z' };
const READY = { ...SETUP, ...TIMES, status: 'ready', exitCode: 0, byteSize: 2048 };
const FAILED = {
  ...SETUP,
  ...TIMES,
  status: 'failed',
  exitCode: 1,
  error: { code: 'command_failed', message: 'The command exited with 1.' },
};
const answer = (body: object, status = 200) =>
  Promise.resolve(Response.json({ ok: true, ...body }, { status }));

/** A service whose setup ends as `end`; `asked` has the bodies of its POSTs. */
async function served(end: typeof READY | typeof FAILED, begun: object = SETUP) {
  const asked: string[] = [];
  const bench = await newBench(({ url, method }) => {
    if (!url.pathname.includes('/setups')) return undefined;
    if (url.pathname.endsWith('/logs'))
      return answer({
        logs: { text: 'installed\n', byteSize: 10, truncated: false, nextOffset: 10, ended: true },
      });
    if (method === 'POST') {
      asked.push(url.pathname);
      return answer({ setup: begun }, 202);
    }
    if (url.pathname.endsWith(ID)) return answer({ setup: end });
    return answer({ setups: [end], hasMore: false, nextCursor: null });
  });
  return { ...bench, asked };
}

describe('setup run', () => {
  test('prints the log, and how it ended', async () => {
    const { run, asked } = await served(READY);
    const done = await run(['setup', 'run']);
    expect([done.exit, done.stdout, asked.length]).toEqual([0, `installed\n${ID}\n`, 1]);
    expect(done.stderr).toContain(`✓ ${ID} is ready after 2.0 s: 2.0 KiB`);
  });

  test('that fails ends with 1 and its code', async () => {
    const { run } = await served(FAILED);
    const failed = await run(['setup', 'run']);
    expect([failed.exit, failed.stderr]).toEqual([1, expect.stringContaining('command_failed')]);
    const asJson = await run(['setup', 'run', '--json']);
    expect([asJson.exit, asJson.json()]).toMatchObject([1, { setup: { status: 'failed' } }]);
  });

  test('one that is ready is shown, and --no-wait waits for none', async () => {
    expect((await (await served(READY, READY)).run(['setup', 'run'])).stdout).toBe(`${ID}\n`);
    expect((await (await served(FAILED)).run(['setup', 'run', '--no-wait'])).stdout).toBe(`${ID}\n`);
  });
});

test('setup list, get and logs show them', async () => {
  const { run } = await served(READY);
  expect((await run(['setup', 'list'])).stdout).toContain('npm ci');
  expect((await run(['setup', 'get'])).stdout).toContain(READY.key);
  expect((await run(['setup', 'logs', ID])).stdout).toBe('installed\n');
  expect((await run(['setup', 'logs', ID, '--follow', '--jsonl'])).stdout).toBe('{"text":"installed\\n"}\n');
});
