import type { BranchUpdate } from '../db/schema.ts';
import type { PullRequestChange } from './change-pull-request.ts';

/** The columns of a new update from the base. The synchronization of the pull request performs it. */
export const updateBegun = (
  requestedBy: string,
  conflictResolution: BranchUpdate['conflictResolution'] = 'agent',
): PullRequestChange => ({
  branch_update: {
    status: 'running',
    baseSha: null,
    conflicts: [],
    error: null,
    conflictResolution,
    requestedBy,
    attempts: 0,
    sides: null,
  },
  update_run_id: null,
});
