/**
 * Files that only CI runs, a fifth of all time: they kill and restart services, fail databases over, or try to escape. A path
 * given to `npm test` runs them, too.
 */
export const ONLY_IN_CI = [
  'packages/server/src/runs/restart.test.ts',
  'packages/server/src/applies/repair/repairs.test.ts',
  'packages/server/src/fleet/fleet.test.ts',
  'packages/runner/src/machine/machine.test.ts',
  'packages/server/src/failover.test.ts',
  'packages/server/src/runs/snapshots/snapshots.test.ts',
  'checks/drivers/escape/suite.test.ts',
  'packages/server/src/sync/others-commits.test.ts',
  'packages/server/src/db/embedded/embedded-postgres.test.ts',
  'packages/server/src/applies/repair/stages.test.ts',
  'packages/server/src/review-loop/both-providers.test.ts',
  'packages/runner/src/sandbox/place.test.ts',
  'packages/cli/src/operator/backup.test.ts',
  'packages/server/src/workspaces/restore-faults.test.ts',
  'packages/server/src/review-loop/drive-loop.test.ts',
  'packages/server/src/runs/fifty-threads.test.ts',
  'checks/proof/differences/hunks.test.ts',
  'packages/server/src/workspaces/archive-faults.test.ts',
];
