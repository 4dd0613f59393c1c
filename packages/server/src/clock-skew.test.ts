/** Processes whose clocks are a minute ahead and a minute behind, on one database. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nextRun } from './runs/take-run.ts';
import { startTestServer } from './service.fixture.ts';
import type { TestServer } from './service.fixture.ts';
import { newApp } from './threads/threads.fixture.ts';

const P = '/api/platform/v1';
const MINUTE_MS = 60_000;
/** Before the service's first import: its clock is another one. */
const skewed = (ms: number) =>
  `data:text/javascript,${encodeURIComponent(`
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...parts) { if (parts.length) super(...parts); else super(Real.now() + ${ms}); }
      static now() { return Real.now() + ${ms}; }
    };`)}`;

let s: TestServer;
let dir: string;
const children: ChildProcess[] = [];
/** Addresses, from the one ahead to the one behind. */
let bases: string[];
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'headrace-skew-'));
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  const [ahead, behind] = await Promise.all([startSkewed(MINUTE_MS), startSkewed(-MINUTE_MS)]);
  bases = [ahead, s.base, behind];
}, 120_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const child of children)
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  await s?.close();
  rmSync(dir, { recursive: true, force: true });
});

async function startSkewed(ms: number): Promise<string> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--import', skewed(ms), 'main.ts'],
    {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        HEADRACE_DATA_DIR: join(dir, `skew${ms}`),
        HEADRACE_PORT: '0',
        HEADRACE_ROLES: 'api',
        DATABASE_URL: s.service.ctx.config.databaseUrl!,
        HEADRACE_SECRET_KEY: 'test secret of at least 32 characters',
        HEADRACE_RATE_LIMIT: '1000000',
      },
    },
  );
  children.push(child);
  let said = '';
  return new Promise((resolve, reject) => {
    const hear = (part: Buffer) => {
      said += part.toString();
      const address = /listening on (http:\S+)/.exec(said)?.[1];
      if (address) resolve(address);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${said}`)));
  });
}

async function post(base: string, path: string, body: object): Promise<Record<string, { id: string }>> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'x-api-key': s.key, 'idempotency-key': randomUUID(), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect(response.status, text).toBe(201);
  return JSON.parse(text) as Record<string, { id: string }>;
}

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

test('runs go in the order of their messages, and lists show what is newest first, whichever process made it', async () => {
  const app = (await newApp(s)).at;
  const { thread } = await post(bases[2]!, `${app}/threads`, {});
  const at = `${app}/threads/${thread!.id}`;
  const made: { message: string; run: string }[] = [];
  for (let round = 0; round < 3; round++)
    for (const base of bases) {
      const { message, run } = await post(base, `${at}/messages`, { content: `round ${round}` });
      made.push({ message: message!.id, run: run!.id });
    }
  const runs = made.map(({ run }) => run);
  expect(idsOf((await s.call('GET', `${at}/runs?limit=50`)).body.runs)).toEqual(runs.toReversed());
  expect(idsOf((await s.call('GET', `${at}/messages?limit=50`)).body.messages)).toEqual(
    made.map(({ message }) => message),
  );
  const { db } = s.service.ctx;
  for (const run of runs) {
    expect((await nextRun(db, thread!.id))!.id).toBe(run);
    await db.updateTable('runs').set({ status: 'completed' }).where('id', '=', run).execute();
  }
  const apps: string[] = [];
  for (const base of [...bases, ...bases]) apps.push((await post(base, `${P}/apps`, { name: 'x' })).app!.id);
  expect(idsOf((await s.call('GET', `${P}/apps?limit=6`)).body.apps)).toEqual(apps.toReversed());
}, 60_000);
