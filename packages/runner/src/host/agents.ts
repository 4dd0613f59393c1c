import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** An agent of this machine, under one of the names that the service knows. */
export interface HostAgent {
  name: string;
  command: string[];
  isScripted: boolean;
}

export const PROVIDERS = ['agent_a', 'agent_b'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** The agent that `agent_a=COMMAND` gives; `scripted` is the built-in one. Throws an Error for a person. */
export function agentOf(text: string): HostAgent & { name: ProviderName } {
  const [, name = '', line = ''] = /^([^=]*)=(.+)$/s.exec(text) ?? [];
  const provider = PROVIDERS.find((one) => one === name);
  if (!provider) throw new Error(`--agent ${text}: it has to be agent_a=COMMAND or agent_b=COMMAND.`);
  if (line.trim() === 'scripted')
    return { name: provider, command: [process.execPath, scriptedProgram()], isScripted: true };
  const command = wordsOf(line);
  if (command[0] === undefined || !isProgram(command[0]))
    throw new Error(`--agent ${name}: there is no command ${command[0] ?? ''}.`);
  return { name: provider, command, isScripted: false };
}

/** The program of the built-in agent: beside this one where both are packed, else its source. */
function scriptedProgram(): string {
  const packed = ['./scripted.js', '../scripted.js'].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  return (
    packed.find((file) => existsSync(file)) ??
    createRequire(import.meta.url).resolve('@headrace/agent/scripted.ts')
  );
}

/** The words of a command line, with quotes and backslashes as in a shell, and nothing else of it. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const [, plain, escaped, single, double, unclosed] of line.matchAll(
    /([^\s'"\\]+)|\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"|(['"\\])|\s+/gs,
  )) {
    const part = plain ?? escaped ?? single ?? double?.replaceAll(/\\(["\\$`])/g, '$1');
    if (unclosed !== undefined) throw new Error(`The command ${line} has a quote that is not closed.`);
    if (part !== undefined) word = (word ?? '') + part;
    else if (word !== undefined) words.push(word);
    if (part === undefined) word = undefined;
  }
  return word === undefined ? words : [...words, word];
}

function isProgram(name: string): boolean {
  if (name.includes('/')) return isExecutable(name);
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => isExecutable(join(folder, name)));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
