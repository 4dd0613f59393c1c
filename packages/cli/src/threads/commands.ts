import type { Command } from '../core/command.ts';

export const threadCommands: readonly Command[] = [];
