/**
 * No sandbox can hold the workspace now: `source_workspace_unavailable` to a caller, `workspace_unavailable`
 * on a run.
 */
export class WorkspaceUnavailable extends Error {}
