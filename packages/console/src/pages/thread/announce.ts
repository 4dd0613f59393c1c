/** What a screen reader hears of a growing reply: whole sentences, and not all the time. */

const INTERVAL_MS = 5_000;
/** A reply that grows faster than it can be read out is skipped over. */
const LONGEST = 400;

export interface Announcer {
  /** The text to say now; null for nothing. `isDone`: the rest is said, a whole sentence or not. */
  hear(text: string, now: number, isDone?: boolean): string | null;
}

export function createAnnouncer(): Announcer {
  let said = 0;
  let saidAt = Number.NEGATIVE_INFINITY;
  return {
    hear(text, now, isDone = false) {
      // A reply that begins anew, or another one.
      if (text.length < said) said = 0;
      if (!isDone && now - saidAt < INTERVAL_MS) return null;
      const end = isDone ? text.length : sentenceEnd(text);
      if (end <= said) return null;
      const words = plain(text.slice(said, end));
      said = end;
      if (words === '') return null;
      saidAt = now;
      return words.length > LONGEST ? `… ${words.slice(-LONGEST)}` : words;
    },
  };
}

/** Where the last whole sentence ends. */
function sentenceEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(/[.!?:。！？]["')\]]*(?=\s)|\n/g)) end = match.index + match[0].length;
  return end;
}

/** Signs of Markdown are not read out, code is not spelled. */
const plain = (text: string): string =>
  text
    .replace(/```[\s\S]*?(?:```|$)/g, ' code ')
    .replace(/[*_`#>|~]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
