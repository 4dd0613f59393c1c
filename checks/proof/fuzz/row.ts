import type { Failure } from './fuzz.ts';
import { SIDES } from './triple.ts';
import type { File, Files } from './triple.ts';

/**
 * A failure as a row for the table of merge-trees.test.ts, with what git says of it; the row's name and the
 * kinds of its conflicts are left to be written.
 */
export function rowOf({ seed, index, triple, differences, expected = [] }: Failure): string {
  const told = differences.map(
    ({ path, what, git, headrace }) =>
      `  // ${path ?? 'the merge'}: ${what}: git ${JSON.stringify(git)}, Headrace ${JSON.stringify(headrace)}`,
  );
  const wanted = Array.isArray(expected)
    ? `conflicts: { ${expected.map((path) => `${key(path)}: '…'`).join(', ')} }`
    : `merged: ${literal(expected)}`;
  const row = `  '…': { ${SIDES.map((side) => `${side}: ${literal(triple[side])}`).join(', ')}, ${wanted} },`;
  return [`  // triple ${index} of seed ${seed}, ${triple.generator}`, ...told, row].join('\n');
}

const literal = (files: Files): string =>
  files.size === 0
    ? '{}'
    : `{ ${[...files].map(([path, file]) => `${key(path)}: ${value(file)}`).join(', ')} }`;
const key = (path: string): string => (/^[a-z]\w*$/i.test(path) ? path : quoted(path));
const value = ({ content, executable }: File): string =>
  executable ? `x(${bytes(content)})` : bytes(content);
const bytes = (content: Buffer): string =>
  content.equals(Buffer.from(content.toString()))
    ? quoted(content.toString())
    : `Buffer.from(${quoted(content.toString('latin1'))}, 'latin1')`;
const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
