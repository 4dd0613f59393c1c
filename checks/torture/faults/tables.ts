/** Test files with tables of faults: each step of some work by each way to fail at it. */
export const TABLES = [
  'packages/server/src/workspaces/archive-faults.test.ts',
  'packages/server/src/workspaces/restore-faults.test.ts',
  'packages/server/src/workspaces/run-end-faults.test.ts',
  'packages/server/src/execs/exec-faults.test.ts',
  'packages/server/src/applies/crash.test.ts',
  'packages/server/src/applies/repair/stages.test.ts',
  'packages/server/src/runs/restart.test.ts',
];
