import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: `${import.meta.dirname}/../..`,
    include: ['checks/agents/**/*.test.ts'],
    globalSetup: ['packages/server/src/db/postgres.fixture.ts'],
    pool: 'forks',
    // One agent at a time: each is several processes of some hundred MiB.
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 120_000,
  },
});
