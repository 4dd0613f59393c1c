import type { Failure } from './fuzz.ts';
import { SIDES } from './triple.ts';
import type { File, Files } from './triple.ts';

/** A failure as a row for the table of merge-trees.test.ts: what is to be expected there has to be written by hand, from what git says. */
export function rowOf({ seed, index, triple, differences }: Failure): string {
  const told = differences.map(({ path, what, git, headrace }) => `  // ${path ?? 'the merge'}: ${what}: git ${JSON.stringify(git)}, Headrace ${JSON.stringify(headrace)}`);
  return [`  // triple ${index} of seed ${seed}, ${triple.generator}`, ...told, `  '…': { ${SIDES.map((side) => `${side}: ${literal(triple[side])}`).join(', ')} },`].join('\n');
}

const literal = (files: Files): string => (files.size === 0 ? '{}' : `{ ${[...files].map(([path, file]) => `${key(path)}: ${value(file)}`).join(', ')} }`);
const key = (path: string): string => (/^[a-z]\w*$/i.test(path) ? path : quoted(path));
const value = ({ content, executable }: File): string => (executable ? `x(${bytes(content)})` : bytes(content));
const bytes = (content: Buffer): string => (content.equals(Buffer.from(content.toString())) ? quoted(content.toString()) : `Buffer.from(${quoted(content.toString('latin1'))}, 'latin1')`);
const quoted = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
