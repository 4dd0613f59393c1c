import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { makeServiceKey } from '../accounts/index.ts';
import { toPreview } from './proxy-headers.ts';

const sent = (headers: Record<string, string>) =>
  toPreview({ headers: { host: 'x', ...headers }, socket: {} } as unknown as IncomingMessage, {
    isUpgrade: false,
  });

test('a service key reaches no preview, however it is written', () => {
  const key = makeServiceKey();
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  for (const authorization of [
    `Bearer ${key}`,
    `Bearer "${key}"`,
    `bearer '${key}',`,
    `Bearer=${key}`,
    `Token token="${key}", x=1`,
    `Bearer ${encodeURIComponent(`"${key}"`)}`,
    `Bearer ${[...key].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}`,
    `Basic ${base64(`x:${key}`)}`,
    `Basic "${base64(`anybody:${key}`)}"`,
    `Bearer ${key.slice(0, -6)}000000`,
  ])
    expect([authorization, sent({ authorization }).authorization]).toEqual([authorization, undefined]);
  expect(sent({ 'x-auth-token': key, 'x-api-key': 'k', referer: `http://x/?key=${key}` })).not.toHaveProperty(
    'x-auth-token',
  );
  expect(JSON.stringify(sent({ 'x-auth-token': key, referer: `http://x/?key=${key}` }))).not.toContain(key);
  expect(sent({ cookie: `a=1; k="${key}"; b=2` }).cookie).toBe('a=1; b=2');
});

test("an app's own credentials reach it", () => {
  for (const authorization of ['Bearer hrk', 'Basic bWU6bXk=', 'Bearer 100%', 'Digest username="x"'])
    expect(sent({ authorization }).authorization).toBe(authorization);
});
