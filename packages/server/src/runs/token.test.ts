import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { hasToken, runToken } from './token.ts';

const secret = randomBytes(32);

test("a run's token is signed by a key for that alone; one of before an upgrade goes on", () => {
  const former = (runId: string) =>
    createHmac('sha256', secret).update(`headrace run token ${runId}`).digest('base64url');
  expect(runToken(secret, 'run_1')).not.toBe(former('run_1'));
  for (const token of [runToken(secret, 'run_1'), former('run_1')]) {
    expect(hasToken(secret, 'run_1', { authorization: `Bearer ${token}` })).toBe(true);
    expect(hasToken(secret, 'run_2', { 'x-api-key': token })).toBe(false);
  }
});
