import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { TABLES } from './tables.ts';

const root = join(import.meta.dirname, '../../..');
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/headrace-modules');

/** All rows of the tables of faults; `npm test` runs a slice of them. */
export default defineConfig({
  test: {
    root,
    globalSetup: ['packages/server/src/db/postgres.fixture.ts'],
    include: TABLES,
    provide: { faultRows: 'all' },
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
