/** The demonstration, as a user starts it; with a real service if HEADRACE_URL and HEADRACE_KEY are set. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const { HEADRACE_URL, HEADRACE_KEY } = process.env;
const skip = !HEADRACE_KEY && 'set HEADRACE_URL and HEADRACE_KEY';

/** Resolves with its address, or with how it ended. */
async function start(env) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../server.js')], { env: { PATH: process.env.PATH, PORT: '0', ...env } });
  let text = '';
  const ended = new Promise((resolve) => child.once('close', (code) => resolve({ code, text })));
  const started = new Promise((resolve) => {
    for (const pipe of [child.stdout, child.stderr]) pipe.setEncoding('utf8').on('data', (part) => {
      const url = /listening on (\S+)/.exec((text += part))?.[1];
      if (url) resolve({ url });
    });
  });
  return { child, ended, ...(await Promise.race([started, ended])) };
}

test('without a key it says what to set; a service that is away ends it', async () => {
  const bare = await start({});
  assert.equal(bare.code, 2);
  assert.match(bare.text, /Set HEADRACE_KEY/);
  const away = await start({ HEADRACE_KEY: 'hrk_x', HEADRACE_URL: 'http://127.0.0.1:9' });
  assert.equal(away.code, 3, away.text);
  assert.match(away.text, /did not answer/);
});

test('the page, the conflicts, and a decision', { skip, timeout: 120_000 }, async () => {
  const { child, ended, url, text } = await start({ HEADRACE_URL, HEADRACE_KEY });
  try {
    assert.ok(url, text);
    assert.match(await (await fetch(url)).text(), /page\.js/);
    const script = await (await fetch(`${url}/page.js`)).text();
    assert.doesNotMatch(script, /hrk_/);
    const read = await (await fetch(`${url}/api/conflicts`)).json();
    assert.deepEqual(read.files.map(({ path, kind }) => [path, kind]), [['greeting.txt', 'content'], ['old.txt', 'delete_modify']]);
    const decide = async (body, headers = {}) => {
      const response = await fetch(`${url}/api/decide`, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, ...(await response.json()) };
    };
    const decisions = [{ path: 'greeting.txt', content: 'Hello\n' }, { path: 'old.txt', take: 'draft' }];
    const body = { sourceId: read.sourceId, headSourceId: read.headSourceId, decisions, key: 'a-decision' };
    assert.equal((await decide(body, { 'sec-fetch-site': 'cross-site' })).message, 'There is no such address.');
    assert.equal((await decide(body)).status, 'applied');
    const after = await fetch(`${url}/api/conflicts`);
    assert.deepEqual([after.status, (await after.json()).message.includes('sealed')], [409, true]);
  } finally {
    child.kill();
    await ended;
  }
});
