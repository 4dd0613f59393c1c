import type { DraftTree } from './draft-tree.ts';
import { PatchError } from './patch-error.ts';

interface Chunk {
  anchors: string[];
  old: string[];
  new: string[];
  atEnd: boolean;
}
type Section =
  | { kind: 'add'; path: string; lines: string[] }
  | { kind: 'delete'; path: string }
  | { kind: 'update'; path: string; moveTo: string | undefined; chunks: Chunk[] };

const BEGIN = '*** Begin Patch',
  END = '*** End Patch';

export const isEnvelope = (text: string): boolean => text.trimStart().startsWith(BEGIN);

/**
 * Applies a `*** Begin Patch` envelope given as a latin1 string; returns one line per file. Throws
 * PatchError.
 */
export function applyEnvelope(tree: DraftTree, text: string): string[] {
  return sectionsOf(text).map((section) => applySection(tree, section));
}

function applySection(tree: DraftTree, section: Section): string {
  const { path } = section;
  const known = tree.read(path);
  if (section.kind === 'add') {
    if (known) throw new PatchError(`${path}: exists already`);
    tree.write(path, { content: section.lines.map((line) => `${line}\n`).join(''), executable: false });
    return `added ${path}`;
  }
  if (!known) throw new PatchError(`${path}: no such file`);
  if (section.kind === 'delete') {
    tree.remove(path);
    return `deleted ${path}`;
  }
  const content = update(known.content, section.chunks, path);
  const { moveTo } = section;
  if (moveTo !== undefined && moveTo !== path) {
    if (tree.read(moveTo)) throw new PatchError(`${moveTo}: exists already`);
    tree.remove(path);
  }
  tree.write(moveTo ?? path, { content, executable: known.executable });
  return moveTo === undefined ? `changed ${path}` : `renamed ${path} to ${moveTo}`;
}

/** Chunks are in the order of the file; each is searched for after the previous one, below its anchors. */
function update(content: string, chunks: Chunk[], path: string): string {
  const isTerminated = content === '' || content.endsWith('\n');
  const lines = (isTerminated ? content.slice(0, -1) : content).split('\n');
  if (content === '') lines.length = 0;
  const out: string[] = [];
  let done = 0;
  for (const chunk of chunks) {
    let from = done;
    for (const anchor of chunk.anchors) {
      const at = find(lines, [anchor], { from });
      if (at === undefined) throw new PatchError(`${path}: the line after @@ is not there: ${utf8(anchor)}`);
      from = at + 1;
    }
    const place =
      chunk.old.length === 0
        ? chunk.anchors.length > 0 && !chunk.atEnd
          ? from
          : lines.length
        : find(lines, chunk.old, { from, atEnd: chunk.atEnd });
    if (place === undefined)
      throw new PatchError(`${path}: these lines are not there:\n${utf8(chunk.old.join('\n'))}`);
    out.push(...lines.slice(done, place), ...chunk.new);
    done = place + chunk.old.length;
  }
  const result = [...out, ...lines.slice(done)];
  return result.length === 0 ? '' : result.join('\n') + (isTerminated ? '\n' : '');
}

/** Exactly, or else without regard to whitespace at the ends of lines, which models lose. */
function find(
  lines: string[],
  wanted: string[],
  { from, atEnd = false }: { from: number; atEnd?: boolean },
): number | undefined {
  for (const same of [
    (a: string, b: string) => a === b,
    (a: string, b: string) => a.trimEnd() === b.trimEnd(),
    (a: string, b: string) => a.trim() === b.trim(),
  ]) {
    const last = lines.length - wanted.length;
    for (let at = atEnd ? Math.max(from, last) : from; at <= last; at++)
      if (wanted.every((line, i) => same(lines[at + i]!, line))) return at;
  }
  return undefined;
}

function sectionsOf(text: string): Section[] {
  const lines = text.trim().split('\n');
  if (lines[0]!.trim() !== BEGIN || lines.at(-1)!.trim() !== END)
    throw new PatchError(`the envelope does not go from ${BEGIN} to ${END}`);
  const sections: Section[] = [];
  for (const line of lines.slice(1, -1)) {
    const header = /^\*\*\* (Add File|Delete File|Update File|Move to): (.+)$/.exec(line.trimEnd());
    const current = sections.at(-1);
    if (!header) {
      addLine(current, line);
      continue;
    }
    const path = Buffer.from(header[2]!.trim(), 'latin1').toString();
    if (header[1] === 'Add File') sections.push({ kind: 'add', path, lines: [] });
    else if (header[1] === 'Delete File') sections.push({ kind: 'delete', path });
    else if (header[1] === 'Update File')
      sections.push({ kind: 'update', path, moveTo: undefined, chunks: [] });
    else if (current?.kind === 'update' && current.chunks.length === 0) current.moveTo = path;
    else throw new PatchError(`misplaced: ${line}`);
  }
  if (sections.length === 0) throw new PatchError('no change was found in the patch');
  for (const s of sections)
    if (s.kind === 'update' && s.moveTo === undefined && s.chunks.length === 0)
      throw new PatchError(`${s.path}: no change`);
  return sections;
}

function addLine(section: Section | undefined, line: string): void {
  const [sign, text] = [line[0], line.slice(1)];
  if (section?.kind === 'add' && sign === '+') {
    section.lines.push(text);
    return;
  }
  if (section?.kind !== 'update') {
    if (line.trim() === '') return;
    throw new PatchError(`misplaced: ${line}`);
  }
  const current = section.chunks.at(-1);
  if (line.startsWith('@@')) {
    const anchor = line.slice(2).replace(/^ /, '');
    // Two consecutive @@ lines narrow the place down: class, then method.
    if (current && current.old.length === 0 && current.new.length === 0) {
      if (anchor.trim() !== '') current.anchors.push(anchor);
      return;
    }
    section.chunks.push({ anchors: anchor.trim() === '' ? [] : [anchor], old: [], new: [], atEnd: false });
    return;
  }
  if (line.trimEnd() === '*** End of File') {
    if (current) current.atEnd = true;
    return;
  }
  const chunk = current ?? { anchors: [], old: [], new: [], atEnd: false };
  if (!current) section.chunks.push(chunk);
  if (line === '' || sign === ' ') {
    chunk.old.push(text);
    chunk.new.push(text);
  } else if (sign === '-') chunk.old.push(text);
  else if (sign === '+') chunk.new.push(text);
  else throw new PatchError(`misplaced: ${line}`);
}

/** Bytes are kept as latin1; people read UTF-8. */
const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString();
