import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testIo } from '../core/io.fixture.ts';
import type { TestIo } from '../core/io.fixture.ts';
import { writeContexts } from './contexts.ts';
import type { Contexts } from './contexts.ts';
import { LINK_FILE, writeLink } from './link.ts';
import { DEFAULT_URL, normalized, targetOf } from './target.ts';

const GOOD = 'https://headrace.example';
const EVIL = 'https://evil.example';
const SESSION = { cookie: 'headrace_session=abc', email: 'kim@example.com' };
const CONTEXTS: Contexts = {
  current: 'work',
  contexts: {
    work: { url: GOOD, key: 'hrk_work', app: 'prj_work' },
    home: { url: DEFAULT_URL, session: SESSION },
  },
};

function signedIn(env: Record<string, string> = {}): TestIo {
  const io = testIo(env);
  writeContexts(io, CONTEXTS);
  return io;
}

describe('the order of what names the service', () => {
  test('option, environment, named context, folder, current context, default', () => {
    const io = signedIn({ HEADRACE_URL: 'https://env.example', HEADRACE_CONTEXT: 'home' });
    writeLink(io.home, { url: 'https://link.example' });
    const urlOf = (given: object, env: object) => {
      const { url, urlFrom } = targetOf({ ...io, env: { HOME: io.home, ...env } }, given);
      return [url, urlFrom];
    };
    expect(urlOf({ url: 'https://option.example' }, io.env)).toEqual(['https://option.example', '--url']);
    expect(urlOf({}, io.env)).toEqual(['https://env.example', 'HEADRACE_URL']);
    expect(urlOf({ context: 'work' }, io.env)).toEqual([GOOD, 'context work']);
    expect(urlOf({}, { HEADRACE_CONTEXT: 'home' })).toEqual([DEFAULT_URL, 'context home']);
    expect(urlOf({}, {})).toEqual(['https://link.example', join(io.home, LINK_FILE)]);
    writeLink(io.home, {});
    expect(urlOf({}, {})).toEqual([GOOD, 'context work']);
    writeContexts(io, { current: null, contexts: {} });
    expect(urlOf({}, {})).toEqual([DEFAULT_URL, 'the default']);
  });

  test('empty variables say nothing; an empty option is refused', () => {
    const io = signedIn({ HEADRACE_URL: '', HEADRACE_CONTEXT: '', HEADRACE_APP: '', HEADRACE_KEY: '' });
    expect(targetOf(io, {})).toMatchObject({ url: GOOD, from: 'work', app: 'prj_work' });
    expect(() => targetOf(io, { url: '' })).toThrow('"" is no address');
  });
});

test('the app is of the option, the environment, the folder, or the context, if they are for this service', () => {
  const io = signedIn();
  expect(targetOf(io, {})).toMatchObject({ app: 'prj_work', appFrom: 'context work' });
  writeLink(io.home, { url: GOOD, app: 'prj_linked' });
  expect(targetOf(io, {})).toMatchObject({ app: 'prj_linked' });
  expect(targetOf(io, { url: EVIL }).app).toBeUndefined();
  const withEnv = { ...io, env: { ...io.env, HEADRACE_APP: 'prj_env' } };
  expect(targetOf(withEnv, {})).toMatchObject({ app: 'prj_env', appFrom: 'HEADRACE_APP' });
  expect(targetOf(withEnv, { app: 'prj_option' })).toMatchObject({ app: 'prj_option', appFrom: '--app' });
});

describe('a folder that names another address', () => {
  test.each([
    EVIL,
    `${EVIL}/`,
    'http://headrace.example',
    'https://headrace.example.evil.example',
    'https://headrace.example@evil.example',
    'https://headrace.example:444',
    'https://headrace.example/other',
    'http://127.0.0.1:4401',
  ])('gets no credential: %s', (url) => {
    for (const env of [undefined, { HEADRACE_KEY: 'hrk_env' }]) {
      const io = signedIn(env);
      writeLink(io.home, { url, app: 'prj_theirs' });
      expect(targetOf(io, {})).toMatchObject({ url: normalized(url), credential: null, from: null });
    }
  });

  test('gets no HEADRACE_KEY without any context', () => {
    const io = testIo({ HEADRACE_KEY: 'hrk_env' });
    writeLink(io.home, { url: EVIL });
    expect(targetOf(io, {}).credential).toBeNull();
  });

  test('is found from folders below it, too', () => {
    const io = signedIn({ HEADRACE_KEY: 'hrk_env' });
    writeLink(io.home, { url: EVIL });
    const cwd = join(io.home, 'a/b');
    mkdirSync(cwd, { recursive: true });
    expect(targetOf({ ...io, cwd }, {})).toMatchObject({ url: EVIL, credential: null });
  });

  test('gets the credential of that address alone, where the user signed in', () => {
    const io = signedIn({ HEADRACE_KEY: 'hrk_env' });
    writeLink(io.home, { url: `${DEFAULT_URL}/` });
    expect(targetOf(io, {})).toMatchObject({ credential: { session: SESSION }, from: 'home' });
  });
});

describe('HEADRACE_KEY', () => {
  const io = () => signedIn({ HEADRACE_KEY: 'hrk_env' });
  const keyOf = (given: object, env: object = {}) => {
    const one = io();
    return targetOf({ ...one, env: { ...one.env, ...env } }, given).credential;
  };

  test('goes to the address that is given with it, and to the current context’s', () => {
    expect(keyOf({ url: EVIL })).toEqual({ key: 'hrk_env' });
    expect(keyOf({}, { HEADRACE_URL: EVIL })).toEqual({ key: 'hrk_env' });
    expect(keyOf({})).toEqual({ key: 'hrk_env' });
  });

  test('does not replace the credential of a context that is named', () => {
    expect(keyOf({ context: 'work' })).toEqual({ key: 'hrk_work' });
    expect(keyOf({ context: 'home' })).toEqual({ session: SESSION });
    expect(keyOf({}, { HEADRACE_CONTEXT: 'home' })).toEqual({ session: SESSION });
  });
});

test('the credential of a context does not go to the address of an option', () => {
  expect(targetOf(signedIn(), { url: EVIL, context: 'work' }).credential).toBeNull();
});

test.each(['gone', '__proto__', 'constructor'])('there is no context %s', (context) => {
  expect(() => targetOf(signedIn(), { context })).toThrow(`There is no context "${context}".`);
});

test('a current context that is gone counts as none', () => {
  const io = testIo();
  writeContexts(io, { ...CONTEXTS, current: 'constructor' });
  expect(targetOf(io, {})).toMatchObject({ url: DEFAULT_URL, from: 'home' });
});

test.each(['{"url": 5}', '{"app": ["prj_1"]}', '[]', 'null'])(
  'a link file that is none is refused: %s',
  (text) => {
    const io = testIo();
    writeFileSync(join(io.home, LINK_FILE), text);
    expect(() => targetOf(io, {})).toThrow('is no link');
  },
);

test('an address loses what is no part of it, and gets https', () => {
  expect(normalized('headrace.example/base//')).toBe('https://headrace.example/base');
  expect(normalized('http://u:p@headrace.example:80/?q#f')).toBe('http://headrace.example');
  expect(() => normalized('http://')).toThrow('is no address');
});
