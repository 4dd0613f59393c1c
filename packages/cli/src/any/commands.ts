import type { Command } from '../core/command.ts';

export const anyCommands: readonly Command[] = [];
