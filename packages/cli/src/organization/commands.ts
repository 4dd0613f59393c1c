import type { Command } from '../core/command.ts';

export const organizationCommands: readonly Command[] = [];
