/** Metadata as a form: names and values in their order. */

export interface Pair {
  name: string;
  value: string;
}

export const pairsOf = (metadata: Record<string, string>): Pair[] =>
  Object.entries(metadata).map(([name, value]) => ({ name, value }));

export const metadataOf = (pairs: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]));

/** As the service. */
export const MOST_PAIRS = 50;

/** Of each pair, what is wrong with its name. */
export const wrongNames = (pairs: readonly Pair[]): (string | null)[] =>
  pairs.map(({ name }, at) =>
    name === ''
      ? 'A name is missing.'
      : pairs.some((other, before) => before < at && other.name === name)
        ? 'This name is there already.'
        : null,
  );

/** Whatever their order. */
export const isSameMetadata = (one: Record<string, string>, other: Record<string, string>): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, value]) => other[name] === value);
