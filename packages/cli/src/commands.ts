/** Every command, in the order of the help. */
import { accountCommands } from './account/commands.ts';
import { anyCommands } from './any/commands.ts';
import { appCommands } from './apps/commands.ts';
import { applyCommands } from './applies/commands.ts';
import { automationCommands } from './automation/commands.ts';
import { buildCommands } from './builds/commands.ts';
import { setupCommands } from './builds/setup-commands.ts';
import type { Command } from './core/command.ts';
import { eventCommands } from './events/commands.ts';
import { hostCommands } from './hosts/commands.ts';
import { operatorCommands } from './operator/commands.ts';
import { organizationCommands } from './organization/commands.ts';
import { repositoryCommands } from './repositories/commands.ts';
import { sourceCommands } from './source/commands.ts';
import { threadCommands } from './threads/commands.ts';

export const COMMANDS: readonly Command[] = [
  ...accountCommands,
  ...appCommands,
  ...sourceCommands,
  ...threadCommands,
  ...hostCommands,
  ...applyCommands,
  ...buildCommands,
  ...setupCommands,
  ...eventCommands,
  ...repositoryCommands,
  ...automationCommands,
  ...organizationCommands,
  ...anyCommands(() => COMMANDS),
  ...operatorCommands,
];
