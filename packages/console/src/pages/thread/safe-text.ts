/** What of Markdown is safe to show as more than text. */
import type { Token } from 'marked';

/** A segment ends at the first place after this. */
const SEGMENT = 4_000;
/** Where there is no such place, finding Markdown takes too long for a page that answers keys. */
const LONGEST_SEGMENT = 12_000;

/**
 * The text in parts that can be read by themselves: cut between blocks, never in a fence or a list item. When a text
 * grows, all but its last segment stay as they are.
 */
export function segmentsOf(text: string): string[] {
  if (text.length <= SEGMENT) return [text];
  const segments: string[] = [];
  let start = 0;
  let fence: string | null = null;
  let afterBlank = false;
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at) + 1;
    const line = text.slice(at, Math.min(end, at + 200));
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (fence === null && afterBlank && at - start >= SEGMENT && /^\S/.test(line)) {
      segments.push(text.slice(start, at));
      start = at;
    }
    if (mark !== null && fence === null) fence = mark;
    else if (mark !== null && fence !== null && mark.startsWith(fence)) fence = null;
    afterBlank = fence === null && line.trim() === '';
    at = end;
  }
  segments.push(text.slice(start));
  return segments;
}

/** Top-level blocks; text that cannot be read as Markdown is one block as written. */
export function blocksOf(text: string, lexer: (text: string) => Token[]): Token[] {
  const asWritten = (): Token[] => [{ type: 'html', raw: text, text, block: true, pre: false }];
  if (text.length > LONGEST_SEGMENT) return asWritten();
  try {
    return lexer(text);
  } catch {
    return asWritten();
  }
}

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** Markdown knows HTML's entities; the five that its writers use. */
export const unescaped = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
