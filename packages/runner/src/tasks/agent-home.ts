import { CONTEXT_FOLDER, type TurnAgent } from '../protocol.ts';
import { collect } from '../sandbox/collect.ts';
import { DEFAULT_LIMITS, HOME, type Bind } from '../sandbox/driver.ts';
import { startSandbox, type Host } from '../sandbox/host.ts';
import { addingPatch } from '../workspaces/fresh-patch.ts';
import type { AgentHome, Workspace } from '../workspaces/workspaces.ts';
import type { TakenContext, Trees } from '../workspaces/trees.ts';
import { TaskFailure } from './task.ts';

const GIVE_MS = 60_000;
/**
 * In HOME, of which each argument is a path, or empty. What the agent left in the way gives way; its links lead
 * no further than this sandbox.
 */
const GIVE = `set -e
umask 022
give() (
  [ -n "$2" ] || exit 0
  at=.
  IFS=/
  set -f
  for name in $(dirname -- "$2"); do
    at="$at/$name"
    if [ -L "$at" ] || [ ! -d "$at" ]; then rm -f -- "$at"; mkdir -- "$at"; fi
    chmod u+rwx -- "$at"
  done
  [ -L "./$2" ] || chmod -R u+rwX -- "./$2" 2>/dev/null || true
  rm -rf -- "./$2"
  [ -e "${CONTEXT_FOLDER}/$1" ] || exit 0
  cp -R -- "${CONTEXT_FOLDER}/$1" "./$2"
)
give instructions.md "$1"
give skills "$2"`;

/**
 * The agent's HOME in this workspace, with the configured files in it. It lives as long as the workspace, so
 * that the agent finds its sessions again. The files are written from inside a sandbox: after its first turn
 * an agent may have put links anywhere in its HOME.
 */
export async function agentHome(
  host: Host,
  trees: Trees,
  { workspace, agent, context }: { workspace: Workspace; agent: TurnAgent; context: TakenContext },
): Promise<AgentHome> {
  let home = workspace.homes.get(agent.name);
  if (!home) {
    home = {
      tree: await trees.make(`${workspace.id}.home`),
      sessionId: null,
      wasInterrupted: false,
      holdsContext: false,
    };
    workspace.homes.set(agent.name, home);
  }
  await giveContext(host, home, agent, context);
  const files = agent.home;
  const entries = Object.entries(files).map(([path, content]) => ({ path, content }));
  if (entries.length > 0) await trees.patch(home.tree, addingPatch(entries));
  return home;
}

/**
 * Puts the turn's instructions and skills where the agent looks for them, in place of those of the turn before.
 * They are copies: agents write beside their skills.
 */
async function giveContext(
  host: Host,
  home: AgentHome,
  { instructionsFile, skillsFolder }: TurnAgent,
  context: TakenContext,
): Promise<void> {
  if ((!instructionsFile && !skillsFolder) || (context.isEmpty && !home.holdsContext)) return;
  home.holdsContext = true;
  const sandbox = startSandbox(host, {
    command: ['/bin/sh', '-c', GIVE, 'sh', instructionsFile ?? '', skillsFolder ?? ''],
    binds: [home.tree.bind({ readOnly: false }), context.bind],
    limits: DEFAULT_LIMITS,
  });
  sandbox.stdin.end();
  const { code, stderr } = await collect(sandbox, { maxBytes: 4096, timeoutMs: GIVE_MS });
  if (code !== 0)
    throw new TaskFailure(
      'workspace_unavailable',
      `The agent's HOME does not take its instructions and skills: ${stderr.trim().slice(0, 500)}`,
    );
  home.holdsContext = !context.isEmpty;
}

export const homeBind = ({ tree }: AgentHome): Bind => ({ ...tree.bind({ readOnly: false }), inside: HOME });
