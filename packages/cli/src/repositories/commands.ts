import type { Command } from '../core/command.ts';

export const repositoryCommands: readonly Command[] = [];
