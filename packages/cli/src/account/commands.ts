import type { Command } from '../core/command.ts';

export const accountCommands: readonly Command[] = [];
