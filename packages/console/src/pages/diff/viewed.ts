/** Files that a reader has marked as viewed, by the contents of both sources. */
const PREFIX = 'headrace:viewed:';
const INDEX = 'headrace:viewed';
/** Pairs that are kept. */
const PAIRS = 50;

/** Name of a pair of sources: equal contents have the same marks. */
export const pairOf = (baseSha: string, sourceSha: string): string =>
  `${baseSha.slice(0, 24)}:${sourceSha.slice(0, 24)}`;

/** Paths that are marked. */
export function readViewed(pair: string): Set<string> {
  return new Set(read(PREFIX + pair));
}

/** Keeps the marks; those of the pair that was marked longest ago go. */
export function writeViewed(pair: string, viewed: ReadonlySet<string>): void {
  try {
    const pairs = [pair, ...read(INDEX).filter((other) => other !== pair)];
    for (const old of pairs.slice(PAIRS)) localStorage.removeItem(PREFIX + old);
    localStorage.setItem(INDEX, JSON.stringify(pairs.slice(0, PAIRS)));
    localStorage.setItem(PREFIX + pair, JSON.stringify([...viewed]));
  } catch {
    // Without storage, or with a full one, the marks last as long as the page.
  }
}

function read(name: string): string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(name) ?? '[]');
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}
