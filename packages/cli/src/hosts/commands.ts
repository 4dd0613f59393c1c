import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';

export const hostCommands: readonly Command[] = [
  command({
    name: 'host',
    group: 'Threads',
    summary: 'Let threads work in folders of this machine',
    details: `Connects this machine to the service as a host, and stays. Threads with this host as their execution target run \
their agents here, without a sandbox, with your rights: in a folder, or in a git worktree of it. The agents' files go to \
the service, but for what git, or .gitignore without a repository, ignores. It asks first; --yes answers.
An agent is the command of one that speaks the Agent Client Protocol; scripted is the built-in one, without a model.
Prints \`headrace host NAME online\` at each connection. --json makes that one document a line, {ok, host}.`,
    options: {
      'token-file': {
        type: 'string',
        value: 'FILE',
        help: "the host's token (or HEADRACE_HOST_TOKEN)",
        completes: 'file',
      },
      bind: { type: 'string', value: 'NAME=FOLDER', help: 'a folder to work in (required)', multiple: true },
      agent: {
        type: 'string',
        value: 'NAME=COMMAND',
        help: 'an agent, as agent_a or agent_b (required)',
        multiple: true,
      },
      share: {
        type: 'string',
        value: 'WHOM',
        choices: ['owner', 'organization'],
        help: 'who may use it (owner)',
      },
    },
    examples: [
      'headrace host --url https://headrace.example --token-file host.token --bind shop=/srv/shop --agent agent_a=claude-agent-acp',
    ],
    scope: 'service',
    run: async (cli, { options }) => (await import('./host.ts')).serveHost(cli, options),
  }),
];
