/** `headrace mcp-servers …`, as data. */
import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { INPUT_OPTION, LIST_OPTIONS } from '../core/options.ts';

const SERVER = 'an id, the first 8 characters of one, ~NAME or @last';
const FIELDS = {
  'server-url': { type: 'string', value: 'URL', help: 'where it is: streamable HTTP, called by the service' },
  command: { type: 'string', value: 'COMMAND', help: 'how it starts inside the sandbox' },
  header: {
    type: 'string',
    multiple: true,
    value: 'NAME[=@FILE]',
    help: 'a header of its calls; the value is a secret: asked for, or from a file',
  },
  env: {
    type: 'string',
    multiple: true,
    value: 'NAME=TEXT',
    help: 'a variable of its command; NAME alone is asked for, NAME=@FILE is read from a file',
  },
  only: {
    type: 'string',
    multiple: true,
    value: 'APP',
    help: 'an app or project whose agents may use it; without it, all',
    completes: 'app',
  },
  ...INPUT_OPTION,
} as const;

export const mcpServerCommands: readonly Command[] = [
  command({
    name: 'mcp-servers list',
    group: 'Organization',
    summary: 'List the MCP servers that agents may use, newest first',
    options: LIST_OPTIONS,
    examples: ['headrace mcp-servers list'],
    scope: 'service',
    answer: 'mcpServers.listMcpServers',
    run: async (cli, { options }) => (await import('./mcp-servers.ts')).listServers(cli, options.limit),
  }),
  command({
    name: 'mcp-servers show',
    group: 'Organization',
    summary: 'Show an MCP server, without its secrets',
    args: ['SERVER'],
    argHelp: { SERVER },
    examples: ["headrace mcp-servers show '~tickets'"],
    scope: 'service',
    answer: 'mcpServers.getMcpServer',
    run: async (cli, { args: [server] }) => (await import('./mcp-servers.ts')).showServer(cli, server),
  }),
  command({
    name: 'mcp-servers create',
    group: 'Organization',
    summary: 'Register an MCP server for agents',
    args: ['[NAME]'],
    argHelp: { NAME: 'the name for agents' },
    options: FIELDS,
    examples: [
      'headrace mcp-servers create tickets --server-url https://mcp.example.com/ --header Authorization=@token.txt',
      'headrace mcp-servers create notes --command "node tools/notes-mcp.mjs" --env NOTES_FILE=notes.md --only \'~Shop\'',
    ],
    scope: 'service',
    writes: true,
    answer: 'mcpServers.createMcpServer',
    run: async (cli, { args: [name], options }) =>
      (await import('./mcp-servers.ts')).createServer(cli, name, options),
  }),
  command({
    name: 'mcp-servers update',
    group: 'Organization',
    summary: 'Change an MCP server',
    details: 'Headers and variables are replaced as a whole.',
    args: ['SERVER'],
    argHelp: { SERVER },
    options: {
      name: { type: 'string', value: 'NAME', help: 'the name for agents' },
      ...FIELDS,
      'all-apps': { type: 'boolean', help: 'let agents of all apps and projects use it' },
    },
    examples: [
      "headrace mcp-servers update '~tickets' --header Authorization=@token.txt",
      "headrace mcp-servers update '~tickets' --all-apps",
    ],
    scope: 'service',
    writes: true,
    answer: 'mcpServers.updateMcpServer',
    run: async (cli, { args: [server], options }) =>
      (await import('./mcp-servers.ts')).updateServer(cli, server, options),
  }),
  command({
    name: 'mcp-servers delete',
    group: 'Organization',
    summary: 'Delete an MCP server',
    args: ['SERVER'],
    argHelp: { SERVER },
    examples: ["headrace mcp-servers delete '~tickets'"],
    scope: 'service',
    writes: true,
    answer: 'mcpServers.deleteMcpServer',
    run: async (cli, { args: [server] }) => (await import('./mcp-servers.ts')).deleteServer(cli, server),
  }),
];
