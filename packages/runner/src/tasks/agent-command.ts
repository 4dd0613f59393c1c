import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AGENTS_FOLDER, type TurnAgent, type TurnRequest } from '../protocol.ts';
import { NODE, type Bind } from '../sandbox/driver.ts';
import { GUEST } from '../sandbox/guest.ts';
import type { Host } from '../sandbox/host.ts';
import { pathOf } from './path.ts';
import { TaskFailure } from './task.ts';

interface AgentCommand {
  command: string[];
  env: Record<string, string>;
  binds: Bind[];
}

/**
 * How an agent is started inside its sandbox. It is checked beforehand, because a sandbox without the command
 * would report less. Folders come from the operator's configuration. Throws TaskFailure `not_configured`,
 * with the command that installs it, when something is missing.
 */
export async function agentCommand(
  host: Host,
  { agent, ...request }: Pick<TurnRequest, 'agent' | 'runtime' | 'env'>,
): Promise<AgentCommand> {
  if (agent.command === null) {
    if (!(await host.guest.ready(agent.name))) throw missing(agent, 'it is not part of this installation');
    return { command: [NODE, `${GUEST}/${agent.name}.cjs`], env: agent.env, binds: [] };
  }
  const inside = `${AGENTS_FOLDER}/${agent.name}`;
  if (agent.folder !== null) await checkFolder(host, agent, agent.folder);
  const name = agent.command[0] ?? '';
  // Nobody but the runtime knows what is in it.
  if (!request.runtime && !isThere(agent, name, inside))
    throw missing(agent, `there is no command ${name}${agent.folder === null ? '' : ` in ${agent.folder}`}`);
  // In a runtime without Node, agents that are npm packages run by the runner's.
  const path = agent.env['PATH'] ?? `${pathOf(request)}${request.runtime ? `:${dirname(NODE)}` : ''}`;
  return {
    command: agent.command,
    env: { ...agent.env, PATH: agent.folder === null ? path : `${inside}/node_modules/.bin:${path}` },
    binds: agent.folder === null ? [] : [{ host: realpathSync(agent.folder), inside, readOnly: true }],
  };
}

/** bubblewrap, which is not root, cannot mount a folder below one that only root enters. */
async function checkFolder(host: Host, agent: TurnAgent, folder: string): Promise<void> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw missing(agent, `its folder ${folder} is not there`);
  const identity = host.uid === null ? {} : { uid: host.uid, gid: host.uid };
  const code = await new Promise((resolve) => {
    spawn('/usr/bin/test', ['-r', folder, '-a', '-x', folder], {
      ...identity,
      env: {},
      cwd: '/',
      stdio: 'ignore',
    })
      .once('error', resolve)
      .once('exit', resolve);
  });
  if (code !== 0)
    throw new TaskFailure(
      'not_configured',
      `The agent ${agent.name} cannot be started: the sandboxes' user (` +
        `${host.uid ?? "the runner's own"}) may not read ${folder}. Open it and the folders above it: ` +
        'chmod o+rx.',
    );
}

function isThere(agent: TurnAgent, name: string, inside: string): boolean {
  const { folder } = agent;
  if (name.startsWith(`${inside}/`))
    return folder !== null && isWithin(folder, join(folder, name.slice(inside.length)));
  if (name.includes('/')) return /^\/(?:usr|bin|sbin)\//.test(name) ? isProgram(name) : name === NODE;
  if (name === 'node') return true;
  return (
    (folder !== null && isWithin(folder, join(folder, 'node_modules/.bin', name))) ||
    ['/usr/local/bin', '/usr/bin', '/bin'].some((bin) => isProgram(join(bin, name)))
  );
}

/** A link that leads out of the folder leads nowhere inside the sandbox. */
function isWithin(folder: string, file: string): boolean {
  return existsSync(file) && realpathSync(file).startsWith(`${realpathSync(folder)}/`) && isProgram(file);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function missing({ name, install }: TurnAgent, reason: string): TaskFailure {
  return new TaskFailure(
    'not_configured',
    `The agent ${name} is not installed: ${reason}.${install === null ? '' : ` Install it: ${install}`}`,
  );
}
