/** Declarations in the handwritten sources, unchanged, with the comments above them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = join(import.meta.dirname, '../src');

/** A type, or a function without its body. Throws unless one file of the folder declares the name. */
export function declarationOf(folder: string, name: string): string {
  const start = new RegExp(`^(?:export )?(?:async )?(interface|type|function|const) ${name}\\b`);
  const found = filesOf(folder).filter((lines) => lines.some((line) => start.test(line)));
  const [lines] = found;
  if (!lines || found.length > 1)
    throw new Error(`src/${folder} declares ${name} ${found.length} times; the reference shows it.`);
  const first = lines.findIndex((line) => start.test(line));
  const last = first + lastLine(start.exec(lines[first]!)![1]!, lines.slice(first));
  const text = lines.slice(first, last + 1).join('\n');
  const shown = text.replace(/^export /, '').replace(/^async /, '');
  return commentAbove(lines, first) + shown.replace(/ (?:=>|\{)$/, ';');
}

/** The members of an interface. */
export function interfaceMembers(folder: string, name: string): string {
  const [, members] = /\{\n([\s\S]*)\n\}/.exec(declarationOf(folder, name)) ?? [];
  if (members === undefined) throw new Error(`${name} in src/${folder} has no members.`);
  return members.replaceAll(/^ {2}/gm, '');
}

/** The lines of each source in a folder. */
const filesOf = (folder: string): string[][] =>
  readdirSync(join(SOURCES, folder))
    .filter((file) => /^(?!.*\.(?:test|fixture)\.ts$).*\.ts$/.test(file))
    .map((file) => readFileSync(join(SOURCES, folder, file), 'utf8').split('\n'));

/** The first line that ends the declaration: outside all brackets, except the one that opens a body. */
function lastLine(kind: string, lines: readonly string[]): number {
  if (kind === 'interface') return lines.indexOf('}');
  const end = kind === 'type' ? /;$/ : /(?:=>|\{)$/;
  let depth = 0;
  return lines.findIndex((line) => {
    for (const character of line) depth += '({['.includes(character) ? 1 : ')}]'.includes(character) ? -1 : 0;
    return end.test(line) && depth === Number(line.endsWith('{'));
  });
}

function commentAbove(lines: readonly string[], index: number): string {
  if (!lines[index - 1]?.endsWith('*/')) return '';
  const first = lines.findLastIndex((line, at) => at < index && line.startsWith('/**'));
  return `${lines.slice(first, index).join('\n')}\n`;
}
