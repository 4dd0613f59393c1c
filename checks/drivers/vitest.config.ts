import { defineConfig } from 'vitest/config';

/**
 * The tests that make sandboxes, over the driver that HEADRACE_TEST_ENGINES names (checks/drivers/run.ts).
 */
export default defineConfig({
  test: {
    root: `${import.meta.dirname}/../..`,
    include: [
      'checks/drivers/conformance/suite.test.ts',
      'packages/runner/src/sandbox/container/*.test.ts',
      'packages/runner/src/capture/capture.test.ts',
      'packages/runner/src/tasks/{tasks,gateway,context}.test.ts',
      'packages/runner/src/tasks/egress.test.ts',
      'packages/runner/src/masking/places.test.ts',
      'checks/drivers/escape/**/*.test.ts',
    ],
    pool: 'forks',
    // Engines take one container after the other.
    maxWorkers: 1,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
