/** Amounts: the API counts micro-units of USD, people dollars. */
const DOLLAR = 1_000_000;

/** `$12.30`; small amounts keep the digits that count: `$0.0042`. */
export function usd(micros: number | null): string {
  if (micros === null) return '-';
  const dollars = micros / DOLLAR;
  if (micros === 0 || dollars >= 0.1) return `$${dollars.toFixed(2)}`;
  return `$${dollars.toFixed(6).replace(/0+$/, '')}`;
}

export const microsOf = (dollars: number | undefined): number | undefined =>
  dollars === undefined ? undefined : Math.round(dollars * DOLLAR);
