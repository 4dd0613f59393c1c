/**
 * The order of test files: the long ones first, so that no core is idle while the last one ends. Vitest knows
 * durations only from earlier runs, and a fresh clone has none.
 */
import { relative, sep } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that take more than ten seconds in a full run, longest first. */
const LONG = [
  'checks/drivers/escape/suite.test.ts',
  'packages/runner/src/tasks/agents.test.ts',
  'checks/drivers/conformance/suite.test.ts',
  'packages/cli/src/backup.test.ts',
  'packages/agent/src/headrace/wires.test.ts',
  'packages/server/src/runs/restart.test.ts',
  'packages/server/src/sync/others-commits.test.ts',
  'packages/server/src/applies/repair/repairs.test.ts',
  'packages/server/src/sync/sync-pull-request.test.ts',
  'packages/server/src/sync/effects.test.ts',
  'packages/server/src/runs/model-agent.test.ts',
  'packages/server/src/workspaces/restore-faults.test.ts',
  'packages/server/src/runs/fifty-threads.test.ts',
  'packages/server/src/scm/github/provider.test.ts',
  'packages/server/src/applies/repair/stages.test.ts',
  'packages/server/src/workspaces/archive-faults.test.ts',
  'packages/server/src/scm/github/behaviour.test.ts',
  'packages/server/src/db/embedded/embedded-postgres.test.ts',
  'packages/server/src/upgrade.test.ts',
  'packages/server/src/commits/push-commit.test.ts',
  'packages/server/src/workspaces/idle.test.ts',
  'packages/server/src/workspaces/run-end-faults.test.ts',
  'packages/server/src/approvals/approvals.test.ts',
  'packages/server/src/scm/git-http/git-http.test.ts',
  'packages/server/src/jobs/worker.test.ts',
  'packages/server/src/receipts/outside.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => {
      const place = LONG.indexOf(relative(project.config.root, moduleId).replaceAll(sep, '/'));
      return place < 0 ? LONG.length : place;
    };
    // Files that share a process stay together: one of another kind between them would end it.
    const order = (spec: TestSpecification) =>
      (spec.project.config.isolate ? 0 : LONG.length + 1) + rank(spec);
    return (await super.sort(files)).toSorted((a, b) => order(a) - order(b));
  }
}
