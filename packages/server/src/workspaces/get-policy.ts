import { read } from '../http/operation.ts';
import { loadThread } from '../threads/index.ts';
import { policyView, WorkspacePolicy } from './policy-view.ts';

export const getPolicy = read({
  name: 'workspaces.getPolicy',
  summary: "Get the saved idle policy, its deadline and the workspace's status",
  access: { permissions: ['thread:read'] },
  responses: { 200: WorkspacePolicy },
  handle: async (call) => ({ status: 200, body: policyView((await loadThread(call.ctx.db, call)).thread) }),
});
