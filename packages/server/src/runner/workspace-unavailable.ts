/**
 * No sandbox can hold the workspace now: `source_workspace_unavailable` for a caller,
 * `workspace_unavailable` on a run.
 */
export class WorkspaceUnavailable extends Error {}
