import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { base32 } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { PreviewFinder } from './find-preview.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});

test('visits to previews that nobody has share statements', async () => {
  const { ctx } = s.service;
  const finder = new PreviewFinder(ctx);
  const queries = vi.spyOn(ctx.db, 'selectFrom');
  const visits = Array.from({ length: 200 }, () => finder.find(base32(randomBytes(16)), '203.0.113.1'));
  expect(new Set(await Promise.all(visits))).toEqual(new Set([null]));
  const count = queries.mock.calls.filter(([from]) => (from as string) === 'previews').length;
  queries.mockRestore();
  expect(count).toBeLessThan(20);
});
