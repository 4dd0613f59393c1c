import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { isServiceKey } from './accounts/index.ts';
import { startService } from './boot.ts';
import { readConfig } from './config.ts';
import { createTestDatabase } from './db/database.fixture.ts';
import { databaseUrl } from './service.fixture.ts';

test('a start that fails tells the first key, which nothing tells later', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const dataDir = mkdtempSync(join(tmpdir(), 'headrace-boot-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const config = readConfig(
    {
      HEADRACE_PORT: String((taken.address() as AddressInfo).port),
      HEADRACE_HOST: '127.0.0.1',
      HEADRACE_DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl(database.connection),
      HEADRACE_SECRET_KEY: 'test secret of at least 32 characters',
    },
    isServiceKey,
  );
  const told: string[] = [];
  const start = startService(config, pino({ level: 'silent' }), {
    onNotices: (notices) => void told.push(...notices),
  });
  await expect(start).rejects.toThrow('EADDRINUSE');
  const key = told.join('\n').match(/^Service key \(shown once\): (.*)$/m)?.[1];
  expect(isServiceKey(key!)).toBe(true);
});
