/** A thread's spend limit, as dollars in a field. */

export const limitText = (micros: number | null): string => (micros === null ? '' : String(micros / 1e6));

const MOST_DOLLARS = 9_000_000_000;

/** Micro-units of USD; null for no limit, undefined for what is no amount. */
export function limitOf(text: string): number | null | undefined {
  const said = text.trim().replace(/^\$/, '');
  if (said === '') return null;
  if (!/^\d+(\.\d{1,6})?$/.test(said)) return undefined;
  const dollars = Number(said);
  return dollars <= MOST_DOLLARS ? Math.round(dollars * 1e6) : undefined;
}
