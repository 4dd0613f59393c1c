/** The command after `--` as the text that the service gives to `sh -c`. */
import { usage } from './fault.ts';

/** One word is a line for the shell; several are a command and its arguments, each of them quoted where it has to be. */
export function shellText(words: readonly string[]): string {
  const [first, ...others] = words;
  if (first === undefined || first.trim() === '') throw usage('The command after `--` is empty.');
  return others.length === 0 ? first : words.map(quoted).join(' ');
}

export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
