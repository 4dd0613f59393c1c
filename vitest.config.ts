import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './checks/harness/longest-first.ts';
import { ONLY_IN_CI } from './checks/harness/only-in-ci.ts';

// Reading modules is half of a process's start: those that tests start find them compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/headrace-modules');
// Threads of stopped services leave their malloc arenas behind, and a fork copies the page tables of the whole
// process. With one arena, a worker is half as large and starts git in half the time.
process.env.MALLOC_ARENA_MAX ??= '1';
// For the same reason, heaps use huge pages if the kernel has them: that saves a quarter of the system time.
process.env.GLIBC_TUNABLES ??= 'glibc.malloc.hugetlb=1';

/** They replace modules for their whole process. */
const MOCKING = ['packages/server/src/accounts/access.test.ts'];

/** What `npm test` leaves to CI. An `exclude` of the command line would not reach projects that have their own. */
const left = process.env.HEADRACE_TESTS === 'some' ? ONLY_IN_CI : [];

const common = {
  // Tests start processes and drop privileges, which threads cannot.
  pool: 'forks' as const,
  testTimeout: 30_000,
  hookTimeout: 30_000,
};

/** Of the console: the way of a newcomer through it, what it loads, and that it has a page for every operation. */
const FIRST_IN_BROWSER = ['whole', 'budget', 'operations'].map((name) => `checks/console/${name}.test.ts`);

const inBrowser = {
  globalSetup: ['checks/console/setup.ts'],
  // As long as the browser's own waits.
  expect: { poll: { timeout: 15_000 } },
};

export default defineConfig({
  test: {
    globalSetup: ['packages/server/src/db/postgres.fixture.ts'],
    sequence: { sequencer: LongestFirst },
    // One more than cores: tests wait for a third of their time.
    maxWorkers: availableParallelism() + 1,
    provide: { faultRows: 'slice' },
    projects: [
      {
        test: {
          ...common,
          name: 'apart',
          include: ['checks/**/*.test.ts', ...MOCKING],
          // The first two install from the npm registry: `npm run test:agents`, `npm run test:chart`.
          exclude: ['checks/agents/{agents,hosts}.test.ts', 'checks/deploy/**', 'checks/console/**', ...left],
        },
      },
      {
        test: {
          ...common,
          name: 'browser',
          include: FIRST_IN_BROWSER,
          ...inBrowser,
        },
      },
      {
        test: {
          ...common,
          name: 'console',
          // Those in long/ only with `npm run test:console`.
          include: ['checks/console/*.test.ts'],
          exclude: FIRST_IN_BROWSER,
          ...inBrowser,
        },
      },
      {
        test: {
          ...common,
          name: 'packages',
          include: ['packages/{agent,client,console,runner}/src/**/*.test.{ts,tsx}'],
          exclude: left,
          // As for the server: it saves a quarter of a second of CPU time per file.
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          name: 'server',
          include: ['packages/{cli,server}/src/**/*.test.ts'],
          exclude: [...MOCKING, ...left],
          // A worker loads and compiles the server once for all of its files: 40 % less CPU time.
          isolate: false,
        },
      },
    ],
  },
});
