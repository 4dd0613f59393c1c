import { expect, test } from 'vitest';
import { nextLookAfterMs } from './poll-timing.ts';

const NOW = Date.parse('2026-02-01T00:00:00Z');
const ago = (hours: number) => new Date(NOW - hours * 3_600_000);

test.each([
  { loopEnabled: true, webhookReceivedAt: null, seconds: 60 },
  { loopEnabled: false, webhookReceivedAt: null, seconds: 300 },
  { loopEnabled: true, webhookReceivedAt: ago(23.9), seconds: 600 },
  { loopEnabled: false, webhookReceivedAt: ago(0), seconds: 600 },
  { loopEnabled: true, webhookReceivedAt: ago(24), seconds: 60 },
  { loopEnabled: false, webhookReceivedAt: ago(100), seconds: 300 },
])('loop $loopEnabled, webhook at $webhookReceivedAt: after $seconds s', ({ seconds, ...given }) => {
  expect(nextLookAfterMs({ ...given, pollSeconds: 60, now: NOW })).toBe(seconds * 1_000);
});
