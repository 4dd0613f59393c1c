import type { Command } from '../core/command.ts';
import { hostedPullRequestCommands } from './hosted-commands.ts';
import { installationCommands } from './installation-commands.ts';
import { projectCommands } from './project-commands.ts';
import { pullRequestCommands } from './pull-request-commands.ts';
import { repoCommands } from './repo-commands.ts';

export const repositoryCommands: readonly Command[] = [
  ...projectCommands,
  ...pullRequestCommands,
  ...repoCommands,
  ...hostedPullRequestCommands,
  ...installationCommands,
];
