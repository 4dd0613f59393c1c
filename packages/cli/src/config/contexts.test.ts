import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { testIo } from '../core/io.fixture.ts';
import { contextsPath, readContexts, writeContexts } from './contexts.ts';
import { readJsonFile, writePrivateJson } from './files.ts';

const CONTEXTS = { current: 'work', contexts: { work: { url: 'https://headrace.example', key: 'hrk_1' } } };
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

function damaged(text: string) {
  const io = testIo();
  mkdirSync(dirname(contextsPath(io)), { recursive: true });
  writeFileSync(contextsPath(io), text, { mode: 0o600 });
  return io;
}

test('contexts are read as they were written, by their owner alone, and nothing else is left', () => {
  const io = testIo();
  expect(readContexts(io)).toEqual({ current: null, contexts: {} });
  writeContexts(io, CONTEXTS);
  expect(readContexts(io)).toEqual(CONTEXTS);
  const folder = dirname(contextsPath(io));
  expect([modeOf(folder), modeOf(contextsPath(io))]).toEqual(['700', '600']);
  expect(readdirSync(folder)).toEqual(['contexts.json']);
  expect(io.said()).toBe('');
});

test('XDG_CONFIG_HOME holds them', () => {
  const io = testIo();
  const withXdg = { ...io, env: { ...io.env, XDG_CONFIG_HOME: join(io.home, 'xdg') } };
  writeContexts(withXdg, CONTEXTS);
  expect(readJsonFile(join(io.home, 'xdg/headrace/contexts.json'))).toEqual(CONTEXTS);
});

test('a file that others can read is made private, and stderr says so', () => {
  const io = testIo();
  writeContexts(io, CONTEXTS);
  chmodSync(contextsPath(io), 0o644);
  expect(readContexts(io)).toEqual(CONTEXTS);
  expect(modeOf(contextsPath(io))).toBe('600');
  expect(io.said()).toContain('other users could read it (mode 644)');
});

test.each([
  '[]',
  '{}',
  '{"contexts": null}',
  '{"contexts": {"a": null}}',
  '{"contexts": {"a": {"url": 5}}}',
  '{"contexts": {"a": {"url": "nowhere"}}}',
  '{"contexts": {"a": {"url": "https://a.example", "key": {}}}}',
  '{"contexts": {"a": {"url": "https://a.example", "session": {"cookie": 1}}}}',
])('a damaged file says what helps: %s', (text) => {
  expect(() => readContexts(damaged(text))).toThrow('contexts.json is damaged. Remove it, and sign in again');
});

test('a file that is cut off says where it is', () => {
  expect(() => readContexts(damaged('{"current": "wo'))).toThrow(/contexts\.json is not JSON/);
});

test('a write that fails leaves the old file, and no other', () => {
  const io = testIo();
  writeContexts(io, CONTEXTS);
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  expect(() => writePrivateJson(contextsPath(io), cyclic)).toThrow('circular');
  expect(readContexts(io)).toEqual(CONTEXTS);
  expect(readdirSync(dirname(contextsPath(io)))).toEqual(['contexts.json']);
});
