/** Times as people say them. */
/** Each unit until so many of it: 13 months are more exact than "next year". */
const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number, below: number][] = [
  ['minute', 60, 60],
  ['hour', 3600, 24],
  ['day', 86_400, 14],
  ['week', 604_800, 9],
  ['month', 2_629_800, 24],
  ['year', 31_557_600, Infinity],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `3 minutes ago`, `in 2 hours`, `yesterday`, rounded; `just now` within 45 s. */
export function ago(iso: string | null, nowMs: number = Date.now()): string {
  if (iso === null) return '-';
  const seconds = Math.round((Date.parse(iso) - nowMs) / 1000);
  if (Number.isNaN(seconds)) return iso;
  const distance = Math.abs(seconds);
  if (distance < 45) return seconds > 5 ? 'in a moment' : 'just now';
  const [unit, length] = STEPS.find(([, step, below]) => Math.round(distance / step) < below)!;
  return relative.format(Math.sign(seconds) * Math.round(distance / length), unit);
}

/** `3 minutes ago (2026-11-23 11:42:07 UTC)` */
export function dated(iso: string | null): string | null {
  if (iso === null) return null;
  return `${ago(iso)} (${iso.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')})`;
}

/** `850 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function lasting(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `812 B`, `3.4 KiB`, `12 MiB`. */
export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = count;
  let at = 0;
  for (; value >= 1024 && at < units.length - 1; at++) value /= 1024;
  return `${at === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[at]!}`;
}
