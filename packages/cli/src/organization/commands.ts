import { command } from '../core/command.ts';
import type { Command } from '../core/command.ts';
import { INPUT_OPTION, LIST_OPTIONS } from '../core/options.ts';
import { environmentCommands } from './environment-commands.ts';
import { hostRecordCommands } from './host-commands.ts';
import { keyCommands } from './key-commands.ts';
import { mcpServerCommands } from './mcp-server-commands.ts';
import { peopleCommands } from './people-commands.ts';
import { skillCommands } from './skill-commands.ts';
import { webhookCommands } from './webhook-commands.ts';

const RANGE = {
  from: { type: 'string', value: 'TIME', help: 'from this UTC day or time on, or so long ago (7d)' },
  to: { type: 'string', value: 'TIME', help: 'before this UTC day or time, or so long ago' },
} as const;

const usageCommands: readonly Command[] = [
  command({
    name: 'usage',
    group: 'Organization',
    summary: 'Summarize runs, tokens and costs',
    details: 'Without --from, of the last 30 days.',
    options: {
      ...RANGE,
      by: {
        type: 'string',
        value: 'GROUP',
        help: 'what a line sums; by default a day',
        choices: ['day', 'app', 'thread', 'model'],
      },
      ...LIST_OPTIONS,
    },
    examples: ['headrace usage --by model --from 30d', 'headrace usage --from 2026-01-01 --to 2026-02-01'],
    scope: 'service',
    answer: 'usage.readUsage',
    run: async (cli, { options }) => (await import('./usage.ts')).showUsage(cli, options),
  }),
  command({
    name: 'models',
    group: 'Organization',
    summary: 'List the models that threads may use, with their prices',
    details: 'Prices are for a million tokens.',
    options: LIST_OPTIONS,
    examples: ['headrace models'],
    scope: 'service',
    answer: 'usage.listModels',
    run: async (cli, { options }) => (await import('./usage.ts')).listModels(cli, options.limit),
  }),
  command({
    name: 'model-keys list',
    group: 'Organization',
    summary: 'List the model providers that have a key',
    options: LIST_OPTIONS,
    examples: ['headrace model-keys list'],
    scope: 'service',
    answer: 'usage.listModelKeys',
    run: async (cli, { options }) => (await import('./model-keys.ts')).listModelKeys(cli, options.limit),
  }),
  command({
    name: 'model-keys set',
    group: 'Organization',
    summary: 'Set the key of a model provider',
    details: 'The key is read from stdin, or asked for. It is stored encrypted, and never shown.',
    args: ['PROVIDER'],
    argHelp: { PROVIDER: 'for example anthropic or openai' },
    examples: ['headrace model-keys set anthropic < anthropic.key'],
    scope: 'service',
    needsSession: true,
    writes: true,
    answer: 'usage.setModelKey',
    run: async (cli, { args: [provider] }) => (await import('./model-keys.ts')).setModelKey(cli, provider),
  }),
  command({
    name: 'model-keys rm',
    group: 'Organization',
    summary: 'Remove the key of a model provider',
    args: ['PROVIDER'],
    argHelp: { PROVIDER: 'one of `headrace model-keys list`' },
    examples: ['headrace model-keys rm anthropic --yes'],
    scope: 'service',
    needsSession: true,
    writes: true,
    answer: 'usage.deleteModelKey',
    run: async (cli, { args: [provider] }) => (await import('./model-keys.ts')).removeModelKey(cli, provider),
  }),
  command({
    name: 'runtimes',
    group: 'Organization',
    summary: 'List the systems that sandboxes may have',
    options: LIST_OPTIONS,
    examples: ['headrace runtimes'],
    scope: 'service',
    answer: 'settings.listRuntimes',
    run: async (cli, { options }) => (await import('./usage.ts')).listRuntimes(cli, options.limit),
  }),
];

const WHOSE = {
  organization: { type: 'boolean', help: 'the organization’s defaults, instead of those of an app' },
  project: { type: 'string', value: 'PROJECT', help: 'those of a Direct project: an id, or ~NAME' },
} as const;

const settingsCommands: readonly Command[] = [
  command({
    name: 'settings get',
    group: 'Organization',
    summary: 'Show settings, of an app, a project or the organization',
    details:
      'A setting without a value of its own follows the organization’s, or else the service’s default. With --json, all settings are printed, also if KEY is given.',
    args: ['[KEY]'],
    argHelp: { KEY: 'one setting, or a member of one: concurrency.runs' },
    options: WHOSE,
    examples: ["headrace settings get --app '~Shop'", "headrace settings get modelId --app '~Shop'"],
    scope: 'app',
    answer: 'settings.getAppSettings',
    run: async (cli, { args: [key], options }) =>
      (await import('./settings.ts')).getSettings(cli, key, options),
  }),
  command({
    name: 'settings set',
    group: 'Organization',
    summary: 'Change settings, and show what has changed',
    details:
      'KEY=TEXT sets a text, KEY:=JSON a number, true, false, null or any JSON, KEY=@FILE and KEY:=@FILE the content of a file. A key with a dot names a member: the others keep their values. null resets a setting.',
    args: ['[KEY=VALUE...]'],
    argHelp: { 'KEY=VALUE': 'for example modelId=scripted or concurrency.runs:=4' },
    options: { ...WHOSE, ...INPUT_OPTION },
    examples: [
      "headrace settings set approvals:=@rules.json --app '~Shop'",
      'headrace settings set budgetMicros:=50000000 concurrency.runs:=4 --organization',
      "headrace settings set instructions=@instructions.md --app '~Shop'",
      "headrace settings set modelId=anthropic/claude-sonnet-4-5 --app '~Shop'",
      `headrace settings set 'setup.command=npm ci' 'setup.paths:=["package.json", "package-lock.json"]'`,
    ],
    scope: 'app',
    writes: true,
    answer: 'settings.updateAppSettings',
    run: async (cli, { args: [words], options }) =>
      (await import('./settings.ts')).setSettings(cli, words ?? [], options),
  }),
];

const systemCommands: readonly Command[] = [
  command({
    name: 'audit',
    group: 'Organization',
    summary: 'Show who did what, newest first',
    options: {
      action: {
        type: 'string',
        value: 'ACTION',
        help: 'only actions that begin with this: member, member.invited',
      },
      actor: { type: 'string', value: 'ID', help: 'only what this user or service account did' },
      target: { type: 'string', value: 'ID', help: 'only what was done to this' },
      ...RANGE,
      ...LIST_OPTIONS,
    },
    examples: ['headrace audit --jsonl --limit 1000', 'headrace audit --action settings --from 7d'],
    scope: 'service',
    needsSession: true,
    answer: 'audit.listEntries',
    run: async (cli, { options }) => (await import('./audit.ts')).showAudit(cli, options),
  }),
  command({
    name: 'system',
    group: 'Organization',
    summary: 'Show the state of the deployment: parts, queues, processes, runners',
    options: { config: { type: 'boolean', help: 'also show the configuration, without its secrets' } },
    examples: ['headrace system'],
    scope: 'service',
    needsSession: true,
    answer: 'system.getSystem',
    run: async (cli, { options }) => (await import('./system.ts')).showSystem(cli, options.config),
  }),
  command({
    name: 'system stuck',
    group: 'Organization',
    summary: 'List what makes no progress, and what helps',
    options: {
      for: { type: 'duration', help: 'only what has made no progress for so long' },
      ...LIST_OPTIONS,
    },
    examples: ['headrace system stuck --for 10m'],
    scope: 'service',
    needsSession: true,
    answer: 'system.listStuck',
    run: async (cli, { options }) => (await import('./system.ts')).listStuck(cli, options),
  }),
];

export const organizationCommands: readonly Command[] = [
  ...usageCommands,
  ...settingsCommands,
  ...environmentCommands,
  ...skillCommands,
  ...keyCommands,
  ...peopleCommands,
  ...webhookCommands,
  ...hostRecordCommands,
  ...mcpServerCommands,
  ...systemCommands,
];
