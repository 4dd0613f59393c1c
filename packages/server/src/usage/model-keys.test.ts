import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, invited, newAccount, tenant } from '../accounts/test-callers.ts';
import { startTestServer } from '../test-server.ts';
import type { TestServer } from '../test-server.ts';
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
afterAll(async () => { await s?.close(); });

const put = (provider: string, body: unknown, as = cookie) => s.call('PUT', `/api/model-keys/${provider}`, body, { cookie: as });

test('a sealed key opens only with its secret, for its organization and provider', () => {
  const secret = Buffer.from('s'.repeat(32));
  const sealed = sealModelKey(secret, 'org_1', 'anthropic', 'sk-secret');
  expect(unsealModelKey(secret, 'org_1', 'anthropic', sealed)).toBe('sk-secret');
  expect(sealed.toString('latin1')).not.toContain('sk-secret');
  expect(sealModelKey(secret, 'org_1', 'anthropic', 'sk-secret').equals(sealed)).toBe(false);
  for (const [a, b, c] of [[Buffer.from('t'.repeat(32)), 'org_1', 'anthropic'], [secret, 'org_2', 'anthropic'], [secret, 'org_1', 'openai']] as const) expect(() => unsealModelKey(a, b, c, sealed)).toThrow();
  sealed[sealed.length - 1]! ^= 1;
  expect(() => unsealModelKey(secret, 'org_1', 'anthropic', sealed)).toThrow();
});

describe('200', () => {
  test('a key is set, replaced, listed without its secret, used and deleted; its provider is among the models', async () => {
    expect(expectStatus(await s.call('GET', '/api/models', undefined, { key }), 200).body.models).toEqual([{ id: 'scripted', provider: 'built-in', prices: { inputMicros: 0, outputMicros: 0, cachedMicros: 0 } }]);
    const first = expectStatus(await put('openai', { key: 'sk-first' }), 200).body.modelKey;
    expect(first).toEqual({ provider: 'openai', createdAt: expect.stringMatching(/Z$/), updatedAt: expect.stringMatching(/Z$/) });
    expectStatus(await put('anthropic', { key: 'sk-other' }), 200);
    expect(expectStatus(await put('openai', { key: 'sk-second' }), 200).body.modelKey.createdAt).toBe(first.createdAt);
    const list = expectStatus(await s.call('GET', '/api/model-keys', undefined, { key }), 200);
    expect(list.body.modelKeys.map((k: { provider: string }) => k.provider)).toEqual(['anthropic', 'openai']);
    expect(list.text).not.toContain('sk-');
    expect(await openModelKey(s.service.ctx, orgId, 'openai')).toBe('sk-second');
    expect((await s.call('GET', '/api/models', undefined, { key })).body.models.map((m: { id: string }) => m.id)).toEqual(['scripted', 'anthropic/*', 'openai/*']);
    const page = (await s.call('GET', '/api/models?limit=2', undefined, { key })).body;
    expect((await s.call('GET', `/api/models?limit=2&cursor=${page.nextCursor}`, undefined, { key })).body).toMatchObject({ models: [{ id: 'openai/*', prices: null }], nextCursor: null });
    expectStatus(await s.call('DELETE', '/api/model-keys/openai', undefined, { cookie }), 200);
    expect(await openModelKey(s.service.ctx, orgId, 'openai')).toBeNull();
    expect((await s.call('GET', '/api/model-keys', undefined, { key: s.key })).body.modelKeys).toEqual([]);
  });
});

describe('400, 401, 403, 404', () => {
  test('providers and callers that do not fit', async () => {
    for (const [provider, body, path] of [['scripted', { key: 'k' }, '/params/provider'], ['UPPER', { key: 'k' }, '/params/provider'], ['openai', { key: '' }, '/key'], ['openai', {}, '/key']] as const) {
      expect(expectStatus(await put(provider, body), 400).body.error.fields[0].path).toBe(path);
    }
    expectStatus(await s.call('PUT', '/api/model-keys/openai', { key: 'k' }, { key }), 401);
    expectStatus(await s.call('GET', '/api/models', undefined, { key: (await newAccount(s, cookie, { permissions: { usage: ['read'] } })).key }), 401);
    expectStatus(await put('openai', { key: 'k' }, (await invited(s, cookie, 'member')).cookie), 403);
    expect(expectStatus(await s.call('DELETE', '/api/model-keys/mistral', undefined, { cookie }), 404).body.error.code).toBe('model_key_not_found');
  });
});
