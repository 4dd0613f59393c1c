/** The test service answers as the API document and the real service do. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestService } from '@headrace/client/testing';
import { startTestServer } from '../../../packages/server/src/service.fixture.ts';
import type { TestServer } from '../../../packages/server/src/service.fixture.ts';
import { SCENARIOS } from './scenario.ts';
import { openWire } from './wire.ts';
import type { Target } from './wire.ts';

async function hold(target: Target, { run }: (typeof SCENARIOS)[number]): Promise<void> {
  const wire = openWire(target);
  await run(wire);
  expect(wire.faults).toEqual([]);
}

describe('the test service', () => {
  for (const scenario of SCENARIOS)
    test(scenario.name, async () => {
      const { url, key, fetch } = createTestService();
      await hold({ base: url, key, fetch }, scenario);
    });
});

describe('the real service', () => {
  let s: TestServer;
  beforeAll(async () => {
    s = await startTestServer();
  });
  afterAll(() => s?.close());

  for (const scenario of SCENARIOS)
    test(scenario.name, async () => {
      await hold({ base: s.base, key: s.key, fetch }, scenario);
    });
});
