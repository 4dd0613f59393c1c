import type { Command } from '../core/command.ts';

export const applyCommands: readonly Command[] = [];
