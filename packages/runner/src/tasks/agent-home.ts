import { HOME, type Bind } from '../sandbox/driver.ts';
import { addingPatch } from '../workspaces/fresh-patch.ts';
import type { AgentHome, Workspace } from '../workspaces/workspaces.ts';
import type { Trees } from '../workspaces/trees.ts';

/**
 * The agent's HOME in this workspace, with the configured files in it. It lives as long as the workspace, so
 * that the agent finds its sessions again. The files are written from inside a sandbox: after its first turn
 * an agent may have put links anywhere in its HOME.
 */
export async function agentHome(
  trees: Trees,
  workspace: Workspace,
  agent: string,
  files: Record<string, string>,
): Promise<AgentHome> {
  let home = workspace.homes.get(agent);
  if (!home) {
    home = { tree: await trees.make(`${workspace.id}.home`), sessionId: null, wasInterrupted: false };
    workspace.homes.set(agent, home);
  }
  const entries = Object.entries(files).map(([path, content]) => ({ path, content }));
  if (entries.length > 0) await trees.patch(home.tree, addingPatch(entries));
  return home;
}

export const homeBind = ({ tree }: AgentHome): Bind => ({ ...tree.bind({ readOnly: false }), inside: HOME });
