/** What of Markdown is safe to show as more than text. */
import type { Token } from 'marked';

/** Beyond it, finding the blocks takes too long for a page that answers keys. */
const LONGEST = 200_000;

/** Top-level blocks; text that cannot be read as Markdown is one block as written. */
export function blocksOf(text: string, lexer: (text: string) => Token[]): Token[] {
  const asWritten = (): Token[] => [{ type: 'html', raw: text, text, block: true, pre: false }];
  if (text.length > LONGEST) return asWritten();
  try {
    return lexer(text);
  } catch {
    return asWritten();
  }
}

const SAFE = new Set(['http:', 'https:', 'mailto:']);

/** The address if a click on it can only open a page or a letter. */
export function safeHref(href: string): string | null {
  try {
    // Without a base, a relative address is none: it would lead into the console.
    const url = new URL(href);
    return SAFE.has(url.protocol) ? url.href : null;
  } catch {
    return null;
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
