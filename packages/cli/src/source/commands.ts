import type { Command } from '../core/command.ts';

export const sourceCommands: readonly Command[] = [];
