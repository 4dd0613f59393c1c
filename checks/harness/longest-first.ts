/**
 * The order of test files: the long ones first, so that no core is idle while the last one ends. Vitest knows
 * durations only from earlier runs, and a fresh clone has none.
 */
import { relative, sep } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that take more than ten seconds in a full run, longest first. */
const LONG = [
  'checks/console/pages.test.ts',
  'checks/console/streams.test.ts',
  'checks/console/whole.test.ts',
  'checks/console/apps.test.ts',
  'checks/console/thread.test.ts',
  'checks/console/code.test.ts',
  'packages/server/src/runs/restart.test.ts',
  'packages/server/src/applies/repair/repairs.test.ts',
  'packages/server/src/review-loop/both-providers.test.ts',
  'checks/drivers/escape/suite.test.ts',
  'packages/server/src/runs/model-agent.test.ts',
  'packages/server/src/workspaces/restore-faults.test.ts',
  'packages/server/src/sync/others-commits.test.ts',
  'packages/server/src/review-loop/drive-loop.test.ts',
  'packages/cli/src/operator/backup.test.ts',
  'packages/server/src/sync/sync-pull-request.test.ts',
  'packages/server/src/workspaces/archive-faults.test.ts',
  'packages/server/src/applies/repair/stages.test.ts',
  'packages/server/src/runs/fifty-threads.test.ts',
  'packages/server/src/db/embedded/embedded-postgres.test.ts',
  'packages/server/src/workspaces/run-end-faults.test.ts',
  'packages/server/src/runs/runs.test.ts',
  'packages/server/src/execs/create-exec.test.ts',
  'packages/runner/src/tasks/agents.test.ts',
  'packages/server/src/workspaces/idle.test.ts',
  'packages/cli/src/operator/storage.test.ts',
  'packages/server/src/automations/execute.test.ts',
  'packages/server/src/upgrade.test.ts',
  'packages/server/src/sources/repack/repack.test.ts',
  'packages/server/src/scm/github/provider.test.ts',
  'checks/proof/differences/hunks.test.ts',
  'checks/drivers/conformance/suite.test.ts',
  'packages/server/src/builds/outputs.test.ts',
  'packages/cli/src/operator/secrets.test.ts',
  'packages/server/src/applies/resolutions.test.ts',
  'packages/server/src/jobs/worker.test.ts',
  'packages/server/src/approvals/approvals.test.ts',
  'packages/server/src/builds/crash.test.ts',
  'packages/server/src/commits/commit-source.test.ts',
  'packages/server/src/limits/limiter.test.ts',
  'packages/server/src/receipts/outside.test.ts',
  'packages/server/src/sync/effects.test.ts',
  'packages/server/src/workspaces/surplus.test.ts',
  'packages/server/src/builds/build-work.test.ts',
  'packages/agent/src/headrace/wires.test.ts',
  'packages/server/src/commits/push-commit.test.ts',
  'packages/server/src/operation-walk.test.ts',
  'packages/server/src/sync/polls.test.ts',
  'packages/server/src/applies/crash.test.ts',
  'packages/server/src/workspaces/workspaces.test.ts',
  'packages/server/src/scm/git-http/git-http.test.ts',
  'packages/server/src/health/get-readiness.test.ts',
  'packages/server/src/events/consistent-view.test.ts',
  'packages/server/src/workspaces/history/history.test.ts',
  'packages/server/src/review-loop/passes.test.ts',
  'packages/runner/src/sandbox/container/left-behind.test.ts',
  'packages/runner/src/http/visits.test.ts',
  'packages/server/src/storage/s3-faults.test.ts',
  'packages/cli/src/operator/doctor.test.ts',
  'packages/server/src/processes.test.ts',
  'checks/proof/replay/replay.test.ts',
  'packages/runner/src/git-baseline/git-baseline.test.ts',
  'packages/server/src/execs/exec-faults.test.ts',
  'packages/server/src/gateway/hostile.test.ts',
  'checks/examples/examples.test.ts',
  'checks/client/testing/scenario.test.ts',
  'packages/runner/src/sandbox/container/container.test.ts',
  'packages/server/src/gateway/failures.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => {
      const place = LONG.indexOf(relative(project.config.root, moduleId).replaceAll(sep, '/'));
      return place < 0 ? LONG.length : place;
    };
    // Files that share a process stay together: a file of another project between them would end the process.
    const sharing = ({ project }: TestSpecification) => (project.config.isolate ? '' : project.name);
    return (await super.sort(files)).toSorted(
      (a, b) => sharing(a).localeCompare(sharing(b)) || rank(a) - rank(b),
    );
  }
}
