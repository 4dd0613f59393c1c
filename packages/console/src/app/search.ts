/** Search parameters: what is wrong with an address is said, never ignored. */

/** Reads one parameter. Undefined: not understood. */
export type Reads<T> = (value: unknown) => T | undefined;

export class BadSearch extends Error {
  readonly param: string;
  constructor(param: string, message: string) {
    super(message);
    this.param = param;
  }
}

type Shape = Record<string, Reads<unknown> & { expected?: string }>;
type Values<S extends Shape> = { [K in keyof S]?: NonNullable<ReturnType<S[K]>> };

/** For a route's `validateSearch`. Throws BadSearch for unknown parameters and values. */
export function search<S extends Shape>(shape: S): (given: Record<string, unknown>) => Values<S> {
  return (given) => {
    const values: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined) continue;
      const reads = Object.hasOwn(shape, name) ? shape[name] : undefined;
      const read = reads?.(value);
      if (read === undefined)
        throw new BadSearch(
          name,
          reads
            ? `“${name}” ${reads.expected ?? 'has a value that it cannot have'}.`
            : `This page knows no “${name}”.`,
        );
      values[name] = read;
    }
    return values as Values<S>;
  };
}

/** The router reads `5` and `true` as what they are in JSON. */
export const text: Reads<string> = (value) =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : undefined;

export const flag: Reads<boolean> = (value) =>
  value === true || value === 1 ? true : value === false || value === 0 ? false : undefined;

/** One of these words. */
export function word<const W extends string>(...words: W[]): Reads<W> & { expected: string } {
  return Object.assign((value: unknown) => words.find((one) => one === value), {
    expected: `can only be one of ${words.join(', ')}`,
  });
}

/** Lines of a file: `12` or `12-20`. */
export const lines: Reads<string> = (value) => {
  const said = text(value);
  return said !== undefined && /^[1-9]\d{0,8}(-[1-9]\d{0,8})?$/.test(said) ? said : undefined;
};

/** A whole number between these, both included. */
export function whole(least: number, most: number): Reads<number> & { expected: string } {
  return Object.assign(
    (value: unknown) =>
      typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
        ? value
        : undefined,
    { expected: `can only be a whole number from ${least} to ${most}` },
  );
}
