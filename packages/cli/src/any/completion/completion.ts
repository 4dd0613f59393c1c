/** `headrace completion`: a script that the shell loads. It has the words, and asks `headrace` for names. */
import type { Cli } from '../../core/cli.ts';
import type { Command } from '../../core/command.ts';
import { usage } from '../../core/fault.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { linesOf } from './lines.ts';
import type { Lines } from './lines.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS: Readonly<Record<string, (lines: Lines) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function completion(cli: Cli, shell: string, commands: readonly Command[]): void {
  const scriptOf = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (!scriptOf) throw usage(`${JSON.stringify(shell)} is none of ${Object.keys(SCRIPTS).join(', ')}.`);
  const script = scriptOf(linesOf(commands)).trimEnd();
  cli.show({ shell, script }, () => script);
}
