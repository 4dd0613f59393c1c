import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fakeService, TOKEN } from '../../../runner/src/host/fake-service.fixture.ts';
import { testCli } from '../cli.fixture.ts';

const HTTPS = 'https://headrace.example';

/** A command line in a folder with `site` and `host.token`. */
async function run(words: string[], env: Record<string, string> = {}) {
  const cli = testCli();
  mkdirSync(join(cli.cwd, 'site'));
  writeFileSync(join(cli.cwd, 'host.token'), `${TOKEN}\n`);
  return cli.run(['host', ...words], { env });
}
const TOKEN_FILE = ['--token-file', 'host.token'];
const SITE = ['--bind', 'site=site'];
const AGENT = ['--agent', 'agent_a=scripted'];

describe('exits with 2, and dials nobody', () => {
  test.each<[string, string[], RegExp]>([
    ['without an address', [...TOKEN_FILE, ...SITE, ...AGENT], /--url/],
    [
      'by plain http to another machine',
      ['--url', 'http://192.0.2.7', ...TOKEN_FILE, ...SITE, ...AGENT],
      /https only/,
    ],
    ['without a folder', ['--url', HTTPS, ...TOKEN_FILE, ...AGENT], /--bind/],
    [
      'with a folder that is not there',
      ['--url', HTTPS, ...TOKEN_FILE, '--bind', 'x=absent', ...AGENT],
      /no folder/,
    ],
    [
      'with a folder without a name',
      ['--url', HTTPS, ...TOKEN_FILE, '--bind', 'site', ...AGENT],
      /NAME=FOLDER/,
    ],
    ['with a name given twice', ['--url', HTTPS, ...TOKEN_FILE, ...SITE, ...SITE, ...AGENT], /twice/],
    ['without an agent', ['--url', HTTPS, ...TOKEN_FILE, ...SITE], /--agent/],
    [
      'with an agent of another name',
      ['--url', HTTPS, ...TOKEN_FILE, ...SITE, '--agent', 'mine=sh'],
      /agent_a=/,
    ],
    [
      'with a command that is not there',
      ['--url', HTTPS, ...TOKEN_FILE, ...SITE, '--agent', 'agent_a=no-such'],
      /no-such/,
    ],
    [
      'with a quote that is open',
      ['--url', HTTPS, ...TOKEN_FILE, ...SITE, '--agent', "agent_a=sh 'x"],
      /quote/,
    ],
    ['without a token', ['--url', HTTPS, ...SITE, ...AGENT], /HEADRACE_HOST_TOKEN/],
    [
      'with a token of another kind',
      ['--url', HTTPS, '--token-file', 'site/../other', ...SITE, ...AGENT],
      /token/,
    ],
    ['without a yes', ['--url', HTTPS, ...TOKEN_FILE, ...SITE, ...AGENT], /--yes/],
  ])('%s', async (_, words, says) => {
    const { exit, stdout, stderr } = await run(words);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain(TOKEN);
  });
});

test('says what is uploaded and who may use it, before it asks', async () => {
  const { stderr } = await run(['--url', HTTPS, ...TOKEN_FILE, ...SITE, ...AGENT, '--share', 'organization']);
  expect(stderr).toMatch(/uploaded[^]*without a sandbox|without a sandbox[^]*uploaded/);
  expect(stderr).toContain('every member of your organization');
});

test('is online until it is replaced, by a token of the environment', async () => {
  const service = await fakeService();
  try {
    const env = { HEADRACE_HOST_TOKEN: TOKEN };
    const ended = run(['--url', service.url, ...SITE, ...AGENT, '--yes'], env);
    const line = await service.line();
    expect((await line.ask('/status')).json.bindings[0].name).toBe('site');
    line.socket.close(4001, 'Another program is connected.');
    const { exit, stdout, stderr } = await ended;
    expect([exit, stdout]).toEqual([4, 'headrace host Test host online\n']);
    expect(stderr).toContain('Another program is connected.');
  } finally {
    service.close();
  }
});

test('exits with 4 where its token is refused', async () => {
  const service = await fakeService();
  try {
    const env = { HEADRACE_HOST_TOKEN: `hrh_${'w'.repeat(40)}` };
    const { exit, stdout } = await run(['--url', service.url, ...SITE, ...AGENT, '--yes'], env);
    expect([exit, stdout]).toEqual([4, '']);
  } finally {
    service.close();
  }
});
