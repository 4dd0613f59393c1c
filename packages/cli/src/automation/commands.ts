import type { Command } from '../core/command.ts';

export const automationCommands: readonly Command[] = [];
