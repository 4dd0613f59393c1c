// Amounts are whole cents: sums of fines must never show a rounding error.

/** Adds amounts in cents. */
export function sumCents(amounts) {
  return amounts.reduce((total, cents) => total + cents, 0);
}

/**
 * Reads an amount that a person typed (`12`, `12.5`, `12,50`) as cents.
 * Returns null when it is not an amount of at most two decimals.
 */
export function parseAmount(text) {
  const match = /^\s*(\d{1,6})(?:[.,](\d{1,2}))?\s*$/.exec(text);
  if (!match) return null;
  const [, whole, fraction = ''] = match;
  return Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
}

/** `1250` as `12.50`: for CSV files, which carry no currency sign. */
export function plainAmount(cents) {
  const sign = cents < 0 ? '-' : '';
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
