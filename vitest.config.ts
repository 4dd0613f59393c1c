import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/**/*.test.ts',
      'checks/{bench,drivers,harness,proof,structure,torture}/**/*.test.ts',
      'checks/agents/guide.test.ts',
    ],
    globalSetup: ['packages/server/src/db/postgres.fixture.ts'],
    // Tests start processes and drop privileges: a process of its own per file, no more of them than cores.
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
