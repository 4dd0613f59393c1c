/** Counts as they are read in a line: 50,000. */
export const counted = (value: number) => value.toLocaleString('en-US');
