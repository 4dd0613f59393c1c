/**
 * JSON without its ambiguities: a member given twice, NUL, lone surrogates, numbers out of range, invalid
 * UTF-8, a byte order mark and deep nesting are found. The usual body pays for `JSON.parse`, one pass over
 * the bytes and one over the values: a text with as many strings as its value has keys and strings lost no
 * member on the way, so the tokenizer that finds duplicates by place runs on faulty bodies only.
 */
import { isUtf8 } from 'node:buffer';
import { findDuplicateMembers } from './duplicate-members.ts';
import { pointerToken } from './json-pointer.ts';

export interface JsonFault {
  /** JSON pointer of the member or value. */
  path: string;
  kind: 'duplicate_member' | 'nul' | 'lone_surrogate' | 'huge_number';
  message: string;
}

interface StrictJsonOptions {
  /** Whether the string at this pointer may hold NUL; by default none may. */
  allowNul?: (path: string) => boolean;
}

export const MAX_DEPTH = 64;
/** Ten times what a bundle of 10,000 files has. 64 MiB of `{},` are 20 million objects, a minute and 3 GB. */
const MAX_VALUES = 500_000;
export const MAX_FAULTS = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses a whole body. Faults that leave a value are returned together (at most 100); the value must then
 * not be used but to name further faults. Throws `SyntaxError`, with a message for a person, for what is no
 * JSON text in UTF-8 or nested deeper than 64 or made of more than 500,000 values.
 */
export function parseStrictJson(
  bytes: Uint8Array,
  options: StrictJsonOptions = {},
): { value: unknown; faults: JsonFault[] } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isUtf8(buffer)) throw new SyntaxError('The body is not valid UTF-8.');
  if (buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf)
    throw new SyntaxError('The body must not begin with a byte order mark.');
  const { strings, depth, values } = scan(buffer);
  if (depth > MAX_DEPTH) throw new SyntaxError(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  if (values > MAX_VALUES) throw new SyntaxError(`The body has more than ${MAX_VALUES} values.`);
  const text = buffer.toString('utf8');
  const value = parse(text);
  const faults: JsonFault[] = [];
  const parsed = { strings: 0, isFinite: true };
  tally(value, parsed);
  if (parsed.strings !== strings) faults.push(...findDuplicateMembers(text, MAX_FAULTS).map(duplicate));
  // Raw control characters are no JSON and raw surrogates no UTF-8: both can come by an escape only.
  if (!parsed.isFinite || buffer.includes('\\u0000') || buffer.includes('\\ud') || buffer.includes('\\uD'))
    inspect(value, '', options.allowNul ?? never, faults);
  return { value, faults: faults.slice(0, MAX_FAULTS) };
}

const never = () => false;

function duplicate(path: string): JsonFault {
  return { path, kind: 'duplicate_member', message: 'is given twice' };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // V8's message quotes the body; a person gets a plain one.
    throw new SyntaxError('The body is not valid JSON.');
  }
}

/**
 * How many strings (keys included) and values the text has, and how deep it nests; only meaningful where
 * the text is JSON.
 */
function scan(text: Buffer): { strings: number; depth: number; values: number } {
  let strings = 0;
  let values = 1;
  let depth = 0;
  let deepest = 0;
  const end = text.length;
  for (let i = 0; i < end; i++) {
    const c = text[i]!;
    if (c === QUOTE) {
      strings++;
      i = closingQuote(text, i + 1, end);
    } else if (c === 0x7b || c === 0x5b) {
      depth++;
      values++;
      if (depth > deepest) deepest = depth;
    } else if (c === 0x7d || c === 0x5d) depth--;
    else if (c === 0x2c) values++;
  }
  return { strings, depth: deepest, values };
}

/**
 * A plain loop: hopping by `indexOf` is slower where quotes are dense, and a hostile body would be nothing
 * else.
 */
function closingQuote(text: Buffer, from: number, end: number): number {
  let i = from;
  while (i < end) {
    const c = text[i]!;
    if (c === QUOTE) return i;
    i += c === BACKSLASH ? 2 : 1;
  }
  return i;
}

/** A number out of range is parsed as infinity, which would be stored as null. */
function tally(value: unknown, parsed: { strings: number; isFinite: boolean }): void {
  if (typeof value === 'string') parsed.strings++;
  else if (typeof value === 'number') parsed.isFinite &&= Number.isFinite(value);
  else if (typeof value !== 'object' || value === null) return;
  else if (Array.isArray(value)) for (const item of value) tally(item, parsed);
  else {
    const keys = Object.keys(value);
    for (const key of keys) tally((value as Record<string, unknown>)[key], parsed);
    parsed.strings += keys.length;
  }
}

function inspect(
  value: unknown,
  path: string,
  allowNul: (path: string) => boolean,
  faults: JsonFault[],
): void {
  if (faults.length >= MAX_FAULTS) return;
  if (typeof value === 'string') inspectText(value, path, allowNul, faults);
  else if (typeof value === 'number' && !Number.isFinite(value))
    faults.push({ path, kind: 'huge_number', message: 'is a number out of range' });
  else if (Array.isArray(value)) value.forEach((item, i) => inspect(item, `${path}/${i}`, allowNul, faults));
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      const at = `${path}/${pointerToken(key)}`;
      inspectText(key, at, never, faults);
      inspect(member, at, allowNul, faults);
    }
  }
}

function inspectText(
  text: string,
  path: string,
  allowNul: (path: string) => boolean,
  faults: JsonFault[],
): void {
  if (text.includes('\0') && !allowNul(path))
    faults.push({ path, kind: 'nul', message: 'must not contain NUL' });
  if (!text.isWellFormed())
    faults.push({ path, kind: 'lone_surrogate', message: 'must not contain a lone surrogate' });
}
