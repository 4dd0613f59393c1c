/** A CommonMark fenced code block: its info string and its content, line ends as written. */
export interface Fence {
  info: string;
  content: string;
}

/**
 * An opening line: up to three spaces, three or more of one mark; the info string of a backtick fence holds
 * no backtick.
 */
const OPENING = /^( {0,3})(?:(`{3,})([^`]*)|(~{3,})(.*))$/s;

/**
 * The fenced blocks of a text in order. A longer fence may hold shorter ones; an unclosed one runs to the
 * end.
 */
export function fencesOf(text: string): Fence[] {
  const fences: Fence[] = [];
  let open: { indent: number; mark: string; info: string; lines: string[] } | undefined;
  for (const line of text.match(/[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$/g) ?? []) {
    const bare = line.replace(/[\r\n]+$/, '');
    if (open) {
      if (closes(bare, open.mark)) {
        fences.push({ info: open.info, content: open.lines.join('') });
        open = undefined;
      } else open.lines.push(line.replace(new RegExp(`^ {0,${open.indent}}`), ''));
      continue;
    }
    const found = OPENING.exec(bare);
    if (found)
      open = {
        indent: found[1]!.length,
        mark: (found[2] ?? found[4])!,
        info: (found[3] ?? found[5] ?? '').trim(),
        lines: [],
      };
  }
  if (open) fences.push({ info: open.info, content: open.lines.join('') });
  return fences;
}

function closes(line: string, mark: string): boolean {
  const found = /^ {0,3}(`+|~+)[ \t]*$/.exec(line);
  return found !== null && found[1]![0] === mark[0] && found[1]!.length >= mark.length;
}

/** A fence around text that may itself hold fences. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const mark = '`'.repeat(longest + 1);
  return `${mark}\n${text}${text.endsWith('\n') || text === '' ? '' : '\n'}${mark}`;
}
