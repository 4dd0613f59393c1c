import type { Command } from '../core/command.ts';

export const operatorCommands: readonly Command[] = [];
