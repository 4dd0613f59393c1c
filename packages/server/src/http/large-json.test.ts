import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { LargeJson } from './large-json.ts';

const P = '/api/platform/v1';
const MIB = 1024 * 1024;
let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

/** The longest time for which the event loop did nothing else while `work` was done. */
async function longestStall(work: () => Promise<unknown>): Promise<{ stall: number; total: number }> {
  let stall = 0;
  let last = performance.now();
  const from = last;
  const timer = setInterval(() => {
    const now = performance.now();
    stall = Math.max(stall, now - last);
    last = now;
  }, 1);
  await work();
  clearInterval(timer);
  return { stall: Math.max(stall, performance.now() - last), total: performance.now() - from };
}

const members = (count: number, length: number) =>
  Array.from({ length: count }, (_, i) => `"k${i}":"${'v'.repeat(length)}"`).join(',');

describe('a body over 1 MiB', () => {
  test('holds up nobody else while it is parsed', async () => {
    const body = Buffer.from(`{"name":"n","metadata":{${members(200_000, 60)}}}`);
    const { stall, total } = await longestStall(async () => {
      const answer = await s.call('POST', `${P}/apps`, body);
      expect([answer.status, answer.body.error.fields[0].path]).toEqual([400, '/metadata']);
    });
    // On the event loop it is nearly all of the time.
    expect(stall).toBeLessThan(total / 2);
  });

  test('is one with its shorter form: the same faults, the same receipt', async () => {
    const spaces = ' '.repeat(MIB);
    for (const body of [
      '{"name":"a","name":"b"',
      '{"name":"a","name":"b"}',
      '{"name":"a\\u0000"}',
      '[]',
      '{"name":1,"odd":2,"clientOperationId":"x"}',
    ]) {
      const [short, long] = [
        await s.call('POST', `${P}/apps`, body),
        await s.call('POST', `${P}/apps`, body + spaces),
      ];
      expect([long.status, long.body.error.code, long.body.error.fields]).toEqual([
        400,
        short.body.error.code,
        short.body.error.fields,
      ]);
    }
    const idem = randomUUID();
    const first = await s.call('POST', `${P}/apps?`, `{"name":"n",${spaces}"metadata":{"a":"b"}}`, { idem });
    const again = await s.call('POST', `${P}/apps`, { metadata: { a: 'b' }, name: 'n' }, { idem });
    expect([first.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      first.text,
      'true',
    ]);
    const other = await s.call('POST', `${P}/apps`, `{"name":"other"${spaces}}`, { idem });
    expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_conflict']);
  });
});

test('an organization has so many under way, and no other is refused for it', async () => {
  const largeJson = new LargeJson();
  const job = () => ({
    bytes: Buffer.from('{"a":1}'),
    schema: '{}',
    legacyKeys: [],
    request: { method: 'POST', path: '/', query: {} },
  });
  const parse = (orgId: string) =>
    largeJson.parse(orgId, job()).then(
      ({ body }) => JSON.stringify(body),
      ({ code, headers }) => `${code} ${headers['Retry-After']}`,
    );
  try {
    const answers = await Promise.all([...Array.from({ length: 65 }, () => parse('one')), parse('other')]);
    expect(answers.filter((answer) => answer === '{"a":1}')).toHaveLength(65);
    expect(answers.slice(-2)).toEqual(['rate_limited 1', '{"a":1}']);
    expect(await parse('one')).toBe('{"a":1}');
  } finally {
    await largeJson.close();
  }
});
