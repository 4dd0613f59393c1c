/**
 * Output of commands as lines of text: colours (SGR) become marks, all other escape codes are dropped, and what a
 * carriage return writes over is gone, as on a terminal. Text may come in pieces cut anywhere.
 */
import { MAX_LINE } from './limits.ts';
import type { Marks } from './segments.ts';

/** A line without escape codes, and its colours. */
export interface AnsiLine {
  text: string;
  marks: Marks[];
}

interface Style {
  /** Classes in `code.css`: the colour, the ground, then the rest; '' for none. */
  colour: string;
  ground: string;
  flags: ReadonlySet<string>;
}

const NO_MARKS: Marks[] = [];
const EMPTY: AnsiLine = { text: '', marks: NO_MARKS };
const NO_FLAGS: ReadonlySet<string> = new Set();
const PLAIN: Style = { colour: '', ground: '', flags: NO_FLAGS };
/** What comes after so many changes of colour in one line stays plain: a row must stay cheap to draw. */
const MAX_CHANGES = 400;
/** A longer escape code is none. */
const MAX_CODE = 4096;

// Line ends; CSI; strings (OSC, DCS, …), which end at the end of their line at the latest; two-character codes.
const CODE =
  // oxlint-disable-next-line no-control-regex
  /\n|\r|(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])?|\u001b[\]PX^_][^\u0007\u001b\r\n]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?/g;
const UNFINISHED =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b|\u001b[ -/]+|(?:\u001b\[|\u009b)[0-?]*[ -/]*|\u001b[\]PX^_][^\u0007\u001b\r\n]*\u001b?)$/;

/** Reads output piece by piece. `lines` grows; its last line may still change. */
export class AnsiText {
  readonly lines: AnsiLine[] = [];
  #style = PLAIN;
  #classes = '';
  #text = '';
  #marks = new Map<string, number[]>();
  #changes = 0;
  #isReturned = false;
  #isOpen = false;
  /** The beginning of an escape code whose end has not come. */
  #rest = '';

  append(piece: string): void {
    let given = this.#rest + piece;
    const tail = given.slice(-MAX_CODE);
    this.#rest = UNFINISHED.exec(tail)?.[0] ?? '';
    if (this.#rest) given = given.slice(0, -this.#rest.length);
    let at = 0;
    for (const match of given.matchAll(CODE)) {
      if (match.index > at) this.#write(given.slice(at, match.index));
      at = match.index + match[0].length;
      if (match[0] === '\n') this.#endLine();
      else if (match[0] === '\r') this.#isReturned = true;
      else if (match[2] === 'm') this.#setStyle(styleAfter(this.#style, match[1]!));
      else if (match[2] === 'G' && (match[1] === '' || match[1] === '1')) this.#isReturned = true;
    }
    if (at < given.length) this.#write(given.slice(at));
    if (this.#isOpen) this.lines[this.lines.length - 1] = this.#line();
  }

  #write(text: string): void {
    if (this.#isReturned) this.#clear();
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.lines.push(EMPTY);
    }
    const from = this.#text.length;
    if (this.#classes && from < MAX_LINE && this.#changes < MAX_CHANGES) {
      this.#changes++;
      const ranges = this.#marks.get(this.#classes) ?? [];
      ranges.push(from, from + text.length);
      this.#marks.set(this.#classes, ranges);
    }
    this.#text += text;
  }

  #endLine(): void {
    if (this.#isOpen) this.lines[this.lines.length - 1] = this.#line();
    else this.lines.push(EMPTY);
    this.#isOpen = false;
    this.#clear();
  }

  #clear(): void {
    this.#isReturned = false;
    this.#text = '';
    this.#changes = 0;
    if (this.#marks.size) this.#marks = new Map();
  }

  #line(): AnsiLine {
    if (this.#marks.size === 0) return { text: this.#text, marks: NO_MARKS };
    return {
      text: this.#text,
      marks: [...this.#marks].map(([className, ranges]) => ({ className, ranges: [...ranges] })),
    };
  }

  #setStyle(style: Style): void {
    this.#style = style;
    this.#classes = [style.colour, style.ground, ...style.flags].filter(Boolean).join(' ');
  }
}

/** A whole text as lines. */
export function ansiLines(text: string): AnsiLine[] {
  const read = new AnsiText();
  read.append(text);
  return read.lines;
}

/** Without colours and escape codes. */
export const plainOutput = (text: string): string =>
  ansiLines(text)
    .map((line) => line.text)
    .join('\n');

const COLOURS = ['grey', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', ''];
const FLAGS: Record<number, string> = {
  1: 'ansi-bold',
  2: 'ansi-dim',
  3: 'ansi-italic',
  4: 'ansi-under',
  7: 'ansi-inverse',
  9: 'ansi-strike',
};
const ENDS: Record<number, string[]> = {
  22: ['ansi-bold', 'ansi-dim'],
  23: ['ansi-italic'],
  24: ['ansi-under'],
  27: ['ansi-inverse'],
  29: ['ansi-strike'],
};

function styleAfter(before: Style, params: string): Style {
  let { colour, ground, flags } = before;
  const codes = params.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    if (code === 0) ({ colour, ground, flags } = PLAIN);
    else if (code in FLAGS) flags = new Set([...flags, FLAGS[code]!]);
    else if (code in ENDS) flags = new Set([...flags].filter((flag) => !ENDS[code]!.includes(flag)));
    else if (code === 38 || code === 48) {
      const isIndex = codes[at + 1] === 5;
      const rest = codes.slice(at + 2, at + (isIndex ? 3 : 5));
      const name = isIndex ? nameOfIndex(rest[0] ?? 0) : nameOfRgb(rest);
      if (code === 38) colour = classOf('ansi-', name);
      else ground = classOf('ansi-on-', name);
      at += isIndex ? 2 : 4;
    } else if (code === 39) colour = '';
    else if (code === 49) ground = '';
    else {
      const name = COLOURS[code % 10];
      const tens = Math.floor(code / 10);
      if (name === undefined) continue;
      if (tens === 3 || tens === 9) colour = classOf('ansi-', name);
      else if (tens === 4 || tens === 10) ground = classOf('ansi-on-', name);
    }
  }
  return { colour, ground, flags };
}

const classOf = (prefix: string, name: string): string => (name ? prefix + name : '');

/** One of the 256 colours. Only eight are shown: each is legible on paper and in the dark. */
function nameOfIndex(index: number): string {
  if (index < 16) return COLOURS[index % 8]!;
  if (index >= 232) return index < 246 ? 'grey' : '';
  const cube = index - 16;
  return nameOfRgb([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((part) => part * 51));
}

function nameOfRgb([red = 0, green = 0, blue = 0]: number[]): string {
  const high = Math.max(red, green, blue);
  const spread = high - Math.min(red, green, blue);
  if (spread < 40) return high < 160 ? 'grey' : '';
  const turn =
    high === red
      ? ((green - blue) / spread + 6) % 6
      : high === green
        ? (blue - red) / spread + 2
        : (red - green) / spread + 4;
  const hue = turn * 60;
  if (hue < 25 || hue >= 335) return 'red';
  if (hue < 75) return 'yellow';
  if (hue < 160) return 'green';
  if (hue < 200) return 'cyan';
  return hue < 262 ? 'blue' : 'magenta';
}
