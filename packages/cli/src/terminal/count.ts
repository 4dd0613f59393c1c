/** `1 file`, `2 files`. */
export const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
