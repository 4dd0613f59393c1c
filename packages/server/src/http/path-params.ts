import type { IdPrefix } from '../ids.ts';

/** Whose ids the parameters of paths are. */
export const PARAM_PREFIX: Record<string, IdPrefix> = {
  appId: 'prj',
  projectId: 'prj',
  sourceId: 'src',
  threadId: 'thr',
  runId: 'run',
  checkpointId: 'chk',
  approvalId: 'apr',
  applyId: 'apl',
  buildId: 'bld',
  previewId: 'prv',
  operationId: 'op',
  accountId: 'sa',
  credentialId: 'cred',
  userId: 'usr',
  invitationId: 'inv',
  sessionId: 'ses',
  organizationId: 'org',
  mcpServerId: 'mcp',
  installationId: 'ins',
  repositoryId: 'repo',
  commentId: 'cmt',
  pullRequestId: 'pr',
  taskId: 'task',
};
