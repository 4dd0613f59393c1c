/** The whole flow, with Next, a real service and the agent `scripted`; HEADRACE_URL and HEADRACE_KEY name the service. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

const { HEADRACE_URL, HEADRACE_KEY } = process.env;
const skip = !HEADRACE_KEY && 'set HEADRACE_URL and HEADRACE_KEY';
const ROOT = join(import.meta.dirname, '..');
const LIMIT_MS = 240_000;

let base;
let folder;
let server;
const user = `ada-${Date.now()}`;

function next(args, env) {
  const child = spawn(process.execPath, [join(ROOT, 'node_modules/next/dist/bin/next'), ...args], { cwd: ROOT, env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const pipe of [child.stdout, child.stderr]) pipe.setEncoding('utf8').on('data', (part) => (text += part));
  return { child, said: () => text, ended: new Promise((resolve) => child.once('close', resolve)) };
}

const freePort = () => new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});

async function start(env) {
  const port = await freePort();
  const running = next(['start', '--port', String(port), '--hostname', '127.0.0.1'], { DATABASE_FOLDER: join(folder, `data-${port}`), ...env });
  const url = `http://127.0.0.1:${port}`;
  for (let left = 600; ; left--) {
    if (await fetch(url).then(({ ok }) => ok, () => false)) return { ...running, url };
    if (!left) throw new Error(running.said());
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const ask = async (action, body, to = base) => {
  const options = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  const response = await fetch(`${to}/api/${action}`, { ...options, headers: { cookie: `user=${user}`, 'idempotency-key': crypto.randomUUID() } });
  return { status: response.status, text: await response.text() };
};
const ok = async (...args) => {
  const { status, text } = await ask(...args);
  assert.equal(status, 200, text);
  return JSON.parse(text);
};

/** As in a browser, names below `localhost` resolve to this machine. */
const visit = (url) => new Promise((resolve, reject) => {
  const { hostname, port, pathname } = new URL(url);
  request({ host: '127.0.0.1', port, path: pathname, headers: { host: `${hostname}:${port}` } }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (part) => (text += part)).on('end', () => resolve(text));
  }).on('error', reject).end();
});

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), 'app-builder-'));
  const build = next(['build'], {});
  assert.equal(await build.ended, 0, build.said());
  server = await start({ HEADRACE_URL, HEADRACE_KEY });
  base = server.url;
}, { timeout: LIMIT_MS });
after(async () => {
  server?.child.kill();
  await server?.ended;
  if (folder) await rm(folder, { recursive: true, force: true });
});

test('the page asks for a name, then shows the builder; it has no key in it', { skip }, async () => {
  assert.match(await (await fetch(base)).text(), /Your name/);
  const page = await (await fetch(base, { headers: { cookie: `user=${user}` } })).text();
  assert.match(page, /What should change\?/);
  assert.doesNotMatch(page, /hrk_/);
});

test('prompt, live draft, preview, apply, build, undo, and the feed in the database', { skip, timeout: LIMIT_MS }, async () => {
  const { threadId } = await ok('prompt', { content: '```file index.html\n<h1>Shop</h1>\n```\n' });
  const items = (await ask(`follow?thread=${threadId}`)).text.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(items.findLast(({ kind }) => kind === 'run').run.status, 'completed');
  const { draft } = await ok('state');
  const { url } = await ok('preview', { threadId });
  assert.match(await visit(url), /<h1>Shop<\/h1>/);
  const apply = await ok('apply', { threadId, expectedSourceId: draft.latestSourceId });
  assert.equal(apply.status, 'applied');
  assert.equal((await ok('build', { threadId })).status, 'ready');
  const { heads } = await ok('state');
  assert.equal((await ok('undo', { sourceId: heads[0].sourceId })).status, 'applied');
  for (let left = 100; ; left--) {
    const { activity, heads: now } = await ok('state');
    const types = activity.map(({ type }) => type);
    if (now.length === 3 && types.filter((type) => type === 'platform.head.updated').length === 3 && types.includes('platform.build.ready')) break;
    assert.ok(left, JSON.stringify(activity));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

test('without a key every call says what is missing', { skip, timeout: LIMIT_MS }, async () => {
  const bare = await start({ HEADRACE_KEY: '' });
  try {
    const { status, text } = await ask('state', undefined, bare.url);
    assert.equal(status, 503);
    assert.match(text, /Set HEADRACE_KEY/);
  } finally {
    bare.child.kill();
    await bare.ended;
  }
});
