import type { Command } from '../core/command.ts';

export const buildCommands: readonly Command[] = [];
