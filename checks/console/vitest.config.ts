import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: `${import.meta.dirname}/../..`,
    include: ['checks/console/**/*.test.ts'],
    globalSetup: ['checks/console/setup.ts'],
    pool: 'forks',
    // Each file has a browser and a service: several at a time would measure each other.
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // As long as the browser's own waits.
    expect: { poll: { timeout: 15_000 } },
  },
});
