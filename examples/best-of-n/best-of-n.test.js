import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import { bestOf } from './best-of-n.js';

const file = (path, text) => `\`\`\`file ${path}\n${text}\n\`\`\`\n`;
const build = { command: 'node build.js', outputDirectory: 'dist' };

async function bench(...contents) {
  const service = createTestService();
  const headrace = createClient({ baseUrl: service.url, key: service.key, fetch: service.fetch });
  const { id: appId } = await headrace.apps.create({ name: 'Shop' });
  const { source } = await headrace.sources.import(appId, { files: [{ path: 'a.txt', content: 'one\n' }] });
  await headrace.head.initialize(appId, { sourceId: source.id });
  const candidates = contents.map((content) => ({ prompt: content }));
  return { service, headrace, appId, run: (options) => bestOf(headrace, { appId, candidates, build, parallel: 1, ...options }) };
}
const states = (results) => results.map(({ name, state }) => `${name} ${state}`);

test('the smallest change that builds is applied, the others are archived', async () => {
  const { service, headrace, appId, run } = await bench(file('a.txt', 'two\nthree\nfour'), file('a.txt', 'two'), file('a.txt', 'x'));
  for (const exitCode of [0, 0, 1]) service.buildNext({ exitCode });
  const results = await run();
  assert.deepEqual(states(results), ['#2 applied', '#1 built', '#3 failed']);
  assert.match(results[2].reason, /the build failed/);
  const { headSourceId } = await headrace.apps.get(appId);
  assert.equal(headSourceId, results[0].sourceId);
  const { items } = await headrace.threads.list(appId, { status: 'archived' });
  assert.equal(items.length, 2);
});

test('when the head has moved against the best one, the next best is applied', async () => {
  const { service, appId, run } = await bench(file('a.txt', 'two'), file('b.txt', 'one\ntwo\nthree'));
  let builds = 0;
  const onStep = ({ state }) => state === 'built' && ++builds === 2 && service.moveHead(appId, { 'a.txt': 'theirs\n' });
  const results = await run({ onStep });
  assert.deepEqual(states(results), ['#1 conflicted', '#2 applied']);
  assert.match(results[0].reason, /a\.txt/);
});

test('without budget nothing begins; a run that fails and one without a change are not built', async () => {
  const none = await bench(file('a.txt', 'two'));
  assert.deepEqual(states(await none.run({ budgetMicros: 0 })), ['#1 over budget']);
  assert.equal((await none.headrace.threads.list(none.appId)).items.length, 0);
  const { run } = await bench('```sh\nexit 3\n```\n', 'Hello.');
  const reasons = Object.fromEntries((await run()).map(({ name, reason }) => [name, reason]));
  assert.match(reasons['#1'], /exit code 3/);
  assert.equal(reasons['#2'], 'nothing was changed');
});

/** The program, as a user runs it. */
async function main(args, env) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.js'), ...args], { cwd: import.meta.dirname, env: { PATH: process.env.PATH, ...env } });
  let text = '';
  for (const pipe of [child.stdout, child.stderr]) pipe.setEncoding('utf8').on('data', (part) => (text += part));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, text };
}

test('bad input ends with 2 and says what is right; a service that is away with 3', async () => {
  for (const [args, env, said] of [[['prompts/short.md'], {}, /Set HEADRACE_KEY/], [[], { HEADRACE_KEY: 'hrk_x' }, /Name at least one/], [['--budget', 'much', 'p.md'], { HEADRACE_KEY: 'hrk_x' }, /2\.50/], [['--colour'], { HEADRACE_KEY: 'hrk_x' }, /--colour/]]) {
    const { code, text } = await main(args, env);
    assert.equal(code, 2, text);
    assert.match(text, said);
  }
  const { code, text } = await main(['prompts/short.md'], { HEADRACE_KEY: 'hrk_x', HEADRACE_URL: 'http://127.0.0.1:9' });
  assert.equal(code, 3, text);
  assert.match(text, /did not answer/);
});

const { HEADRACE_URL, HEADRACE_KEY } = process.env;
test('with a real service and the agent scripted', { skip: !HEADRACE_KEY && 'set HEADRACE_URL and HEADRACE_KEY' }, async () => {
  const { code, text } = await main(['prompts/long.md', 'prompts/wrong.md', 'prompts/short.md'], { HEADRACE_URL, HEADRACE_KEY });
  assert.equal(code, 0, text);
  assert.match(text, /^#3 +applied +2 lines/m);
  assert.match(text, /^#1 +built/m);
  assert.match(text, /^#2 +failed.*the build failed/m);
  const wrong = await main(['prompts/short.md'], { HEADRACE_URL, HEADRACE_KEY: `${HEADRACE_KEY}x` });
  assert.equal(wrong.code, 1);
  assert.match(wrong.text, /^unauthorized:/);
});
