import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, invited, newAccount, tenant } from '../accounts/callers.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { openModelKey, sealModelKey, unsealModelKey } from './model-keys.ts';

let s: TestServer;
let cookie: string;
let orgId: string;
let key: string;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
  const made = await tenant(s);
  [cookie, orgId] = [made.cookie, made.organization.id];
  ({ key } = await newAccount(s, cookie));
});
afterAll(async () => {
  await s?.close();
});

const put = (provider: string, body: unknown, as = cookie) =>
  s.call('PUT', `/api/model-keys/${provider}`, body, { cookie: as });

/** All models, read in pages of `limit`. */
async function listed(limit: number): Promise<{ id: string; provider: string; prices: unknown }[]> {
  const models = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await s.call(
      'GET',
      `/api/models?limit=${limit}${cursor && `&cursor=${cursor}`}`,
      undefined,
      { key },
    );
    models.push(...body.models);
    cursor = body.nextCursor;
  }
  return models;
}

test('a sealed key opens only with its secret, for its organization and provider', () => {
  const secret = Buffer.from('s'.repeat(32));
  const sealed = sealModelKey(secret, 'org_1', 'anthropic', 'sk-secret');
  expect(unsealModelKey(secret, 'org_1', 'anthropic', sealed)).toBe('sk-secret');
  expect(sealed.toString('latin1')).not.toContain('sk-secret');
  expect(sealModelKey(secret, 'org_1', 'anthropic', 'sk-secret').equals(sealed)).toBe(false);
  for (const [a, b, c] of [
    [Buffer.from('t'.repeat(32)), 'org_1', 'anthropic'],
    [secret, 'org_2', 'anthropic'],
    [secret, 'org_1', 'openai'],
  ] as const)
    expect(() => unsealModelKey(a, b, c, sealed)).toThrow();
  sealed[sealed.length - 1]! ^= 1;
  expect(() => unsealModelKey(secret, 'org_1', 'anthropic', sealed)).toThrow();
});

describe('200', () => {
  test('a key is set, replaced, listed without its secret, used and deleted; its provider is among the models', async () => {
    expect(expectStatus(await s.call('GET', '/api/models', undefined, { key }), 200).body.models).toEqual([
      { id: 'scripted', provider: 'built-in', prices: { inputMicros: 0, outputMicros: 0, cachedMicros: 0 } },
    ]);
    const first = expectStatus(await put('openai', { key: 'sk-first' }), 200).body.modelKey;
    expect(first).toEqual({
      provider: 'openai',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expectStatus(await put('anthropic', { key: 'sk-other' }), 200);
    expect(expectStatus(await put('openai', { key: 'sk-second' }), 200).body.modelKey.createdAt).toBe(
      first.createdAt,
    );
    const list = expectStatus(await s.call('GET', '/api/model-keys', undefined, { key }), 200);
    expect(list.body.modelKeys.map((k: { provider: string }) => k.provider)).toEqual(['anthropic', 'openai']);
    expect(list.text).not.toContain('sk-');
    expect(await openModelKey(s.service.ctx, orgId, 'openai')).toBe('sk-second');
    const models = () => listed(100);
    const ids = (await models()).map((m) => m.id);
    expect([
      ids[0],
      ids[1],
      ids.indexOf('openai/*') > ids.indexOf('anthropic/claude-sonnet-4-5'),
      new Set(ids).size,
    ]).toEqual(['scripted', 'anthropic/*', true, ids.length]);
    expect((await models()).find((m) => m.id === 'anthropic/claude-sonnet-4-5')).toEqual({
      id: 'anthropic/claude-sonnet-4-5',
      provider: 'anthropic',
      prices: { inputMicros: 3_000_000, outputMicros: 15_000_000, cachedMicros: 300_000 },
    });
    expect((await models()).find((m) => m.id === 'openai/*')).toEqual({
      id: 'openai/*',
      provider: 'openai',
      prices: null,
    });
    expect(await listed(7)).toEqual(await models());
    expectStatus(await s.call('DELETE', '/api/model-keys/openai', undefined, { cookie }), 200);
    expect((await models()).map((m) => m.provider)).not.toContain('openai');
    expect(await openModelKey(s.service.ctx, orgId, 'openai')).toBeNull();
    expect((await s.call('GET', '/api/model-keys', undefined, { key: s.key })).body.modelKeys).toEqual([]);
  });
});

test('providers that need no key are listed without one, with the prices of the operator', async () => {
  const { config } = s.service.ctx;
  config.providers = {
    ...config.providers,
    local: { baseUrl: 'http://127.0.0.1:9/v1', wires: ['openai-chat'], key: 'none' },
  };
  config.prices = {
    'local/small': { inputMicros: 1, outputMicros: 2, cachedMicros: 3, cacheWriteMicros: 4 },
    'local/*-large': { inputMicros: 5, outputMicros: 6, cachedMicros: 7, cacheWriteMicros: 8 },
  };
  expect((await listed(100)).filter((m) => m.provider === 'local')).toEqual([
    { id: 'local/*', provider: 'local', prices: null },
    { id: 'local/small', provider: 'local', prices: { inputMicros: 1, outputMicros: 2, cachedMicros: 3 } },
  ]);
});

describe('400, 401, 403, 404', () => {
  test('providers and callers that do not fit', async () => {
    for (const [provider, body, path] of [
      ['scripted', { key: 'k' }, '/params/provider'],
      ['UPPER', { key: 'k' }, '/params/provider'],
      ['openai', { key: '' }, '/key'],
      ['openai', { key: 'sk-pasted\n' }, '/key'],
      ['openai', { key: 'sk pasted' }, '/key'],
      ['openai', {}, '/key'],
    ] as const) {
      expect(expectStatus(await put(provider, body), 400).body.error.fields[0].path).toBe(path);
    }
    expectStatus(await s.call('PUT', '/api/model-keys/openai', { key: 'k' }, { key }), 401);
    expectStatus(
      await s.call('GET', '/api/models', undefined, {
        key: (await newAccount(s, cookie, { permissions: { usage: ['read'] } })).key,
      }),
      401,
    );
    expectStatus(await put('openai', { key: 'k' }, (await invited(s, cookie, 'member')).cookie), 403);
    expect(
      expectStatus(await s.call('DELETE', '/api/model-keys/mistral', undefined, { cookie }), 404).body.error
        .code,
    ).toBe('model_key_not_found');
  });
});
