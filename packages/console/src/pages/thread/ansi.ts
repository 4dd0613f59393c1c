/** A terminal's output as text with colours. Every other escape code is dropped. */

export interface Style {
  /** A class that sets the colour. */
  colour?: string;
  bold?: boolean;
  dim?: boolean;
  underline?: boolean;
}
export interface Span extends Style {
  text: string;
}

const COLOURS: (string | undefined)[] = [
  'text-ink-3',
  'text-fail',
  'text-done',
  'text-wait',
  'text-water',
  'text-conflict-mark',
  'text-water',
  undefined,
];

// Colours (1), control sequences, what a terminal is told with a string (its title, links), other escapes.
const CODES =
  // oxlint-disable-next-line no-control-regex
  /\u001b\[([\d;:]*)m|[\u001b\u009b]\[?[\d;:<=>?!]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)/g;
const STRINGS =
  // oxlint-disable-next-line no-control-regex
  /\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)/g;

/** Spans of the whole text; line breaks stay in them. */
export function spansOf(output: string): Span[] {
  const spans: Span[] = [];
  let style: Style = {};
  const add = (text: string) => {
    if (text !== '') spans.push({ ...style, text });
  };
  const text = rewritten(output.replace(STRINGS, ''));
  let at = 0;
  for (const match of text.matchAll(CODES)) {
    add(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[1] !== undefined) style = styled(style, match[1]);
  }
  add(text.slice(at));
  return spans;
}

/** Without colours: for search and for copying. */
export const plainOf = (output: string): string =>
  spansOf(output)
    .map(({ text }) => text)
    .join('');

/** What stays of lines that a program wrote over (`\r`) or took back (`\b`): progress bars. */
function rewritten(text: string): string {
  const lines = text.replaceAll('\r\n', '\n');
  if (!/[\r\b]/.test(lines)) return lines;
  return lines
    .split('\n')
    .map((line) => {
      if (!/[\r\b]/.test(line)) return line;
      const last = line.split('\r').findLast((part) => part !== '') ?? '';
      return last.includes('\b') ? withoutTaken(last) : last;
    })
    .join('\n');
}

function withoutTaken(line: string): string {
  const kept: string[] = [];
  for (const character of line) {
    if (character === '\b') kept.pop();
    else kept.push(character);
  }
  return kept.join('');
}

function styled(before: Style, codes: string): Style {
  let style = before;
  const numbers = codes.split(/[;:]/).map(Number);
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i]!;
    if (code === 38 || code === 48) {
      const isIndexed = numbers[i + 1] === 5;
      if (code === 38) style = withColour(style, isIndexed ? numbers[i + 2] : undefined);
      i += isIndexed ? 2 : 4;
    } else style = withCode(style, code);
  }
  return style;
}

function withCode(style: Style, code: number): Style {
  if (code === 0) return {};
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 4) return { ...style, underline: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 24) return { ...style, underline: false };
  if (code === 39) return withColour(style, undefined);
  if (code >= 30 && code <= 37) return withColour(style, code - 30);
  if (code >= 90 && code <= 97) return withColour(style, code === 90 ? 0 : code - 90);
  return style;
}

/** Colours beyond the sixteen have no place in ours. */
function withColour({ bold, dim, underline }: Style, index: number | undefined): Style {
  const colour = index === undefined || index > 15 ? undefined : COLOURS[index % 8];
  return {
    ...(bold && { bold }),
    ...(dim && { dim }),
    ...(underline && { underline }),
    ...(colour !== undefined && { colour }),
  };
}
