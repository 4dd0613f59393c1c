import { readFileSync } from 'node:fs';

/** The usage of a script: its first docstring. */
export function helpOf(script: string): string {
  const [, docstring] = /\/\*\*\n([^]*?)\n \*\//.exec(readFileSync(script, 'utf8'))!;
  return docstring!.replaceAll(/^ \* ?/gm, '');
}
