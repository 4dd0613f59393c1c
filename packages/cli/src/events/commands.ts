import type { Command } from '../core/command.ts';

export const eventCommands: readonly Command[] = [];
