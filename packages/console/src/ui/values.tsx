/** Times, money, sizes and ids, as people read them. */
import { Check, Copy } from 'lucide-react';
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { serviceNow } from '../api/clock.ts';
import { IconButton } from './button.tsx';
import { notify } from './notices.tsx';

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const ABSOLUTE = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });
const DOLLARS = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
const SMALL_DOLLARS = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 4,
  maximumFractionDigits: 4,
});
const NUMBER = new Intl.NumberFormat('en');
const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;
const TICK_MS = 10_000;

/** `3 min. ago`; `now` within a tick of now, on either side. */
export function relative(at: string | number, now: number): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  for (const [size, unit] of UNITS)
    if (Math.abs(seconds) >= size) return RELATIVE.format(Math.trunc(seconds / size), unit);
  return Math.abs(seconds) <= TICK_MS / 1000 ? 'now' : RELATIVE.format(Math.trunc(seconds), 'second');
}

/** `850 ms`, `12.4 s`, `3 min 5 s`, `2 h 4 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `812 B`, `14 KiB`, `3.2 MiB`, `58 GiB`. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const power = count < 1024 ** 2 ? 1 : count < 1024 ** 3 ? 2 : 3;
  const value = count / 1024 ** power;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${['KiB', 'MiB', 'GiB'][power - 1]}`;
}

/** `$1.20`; four decimals below ten cents. */
export const dollars = (micros: number): string =>
  (micros > 0 && micros < 100_000 ? SMALL_DOLLARS : DOLLARS).format(micros / 1e6);

export const count = (value: number): string => NUMBER.format(value);

/** `1 file`, `3 files`. */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** One timer for everything on the page that shows the time at this pace. */
function ticker(ms: number): () => number {
  const listeners = new Set<() => void>();
  let now = serviceNow();
  let timer: ReturnType<typeof setInterval> | undefined;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    if (timer === undefined) {
      now = serviceNow();
      timer = setInterval(() => {
        now = serviceNow();
        for (const each of listeners) each();
      }, ms);
    }
    return () => {
      listeners.delete(listener);
      if (listeners.size) return;
      clearInterval(timer);
      timer = undefined;
    };
  };
  return () => useSyncExternalStore(subscribe, () => now);
}

/** The service's time in milliseconds, exact to ten seconds. */
export const useNow = ticker(TICK_MS);
/** The same, exact to a second. */
const useSeconds = ticker(1_000);

/** Relative; the exact time in its title. */
export function Time({ at }: { at: string | number | null }) {
  const seen = useNow();
  if (at === null) return <span className="text-ink-3">–</span>;
  const said = relative(at, seen);
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={ABSOLUTE.format(new Date(at))}
      className="whitespace-nowrap"
    >
      {said}
    </time>
  );
}

/** How long something took, or takes until now. */
export function Took({ from, to }: { from: string | null; to: string | null }) {
  if (from === null) return <span className="text-ink-3">–</span>;
  return (
    <span className="whitespace-nowrap tabular-nums">
      {to === null ? <Running from={from} /> : duration(Date.parse(to) - Date.parse(from))}
    </span>
  );
}

/** It may have begun within the second that the service's time is exact to. */
const Running = ({ from }: { from: string }) => duration(Math.max(0, useSeconds() - Date.parse(from)));

const COPIED_MS = 1500;

/** Whether it was copied; if not, a notice says so. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Over plain HTTP there is no clipboard; elsewhere it may be denied.
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    notify('This browser does not let the page copy.', 'fail');
    return false;
  }
}

/** Copies a text, or what it is by then; says so for a moment, or that it cannot. */
export function CopyButton({
  text,
  label,
  icon = <Copy size={14} />,
}: {
  text: string | (() => string);
  label: string;
  icon?: ReactNode;
}) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const reset = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(reset);
  }, [isCopied]);
  const copy = async () => setCopied(await copyText(typeof text === 'function' ? text() : text));
  return (
    <IconButton label={isCopied ? 'Copied' : label} onPress={() => void copy()}>
      {isCopied ? <Check size={14} /> : icon}
    </IconButton>
  );
}

/** Of an id its prefix and last six characters. */
export const shortId = (value: string): string =>
  value.length > 14 ? `${value.slice(0, value.indexOf('_') + 1)}…${value.slice(-6)}` : value;

/** An id: its prefix and last six characters, the whole on hover and by the button. */
export function Id({ value, copy = true }: { value: string; copy?: boolean }) {
  return (
    <span className="-my-1 inline-flex items-center whitespace-nowrap font-mono text-mono text-ink-2">
      <span title={value}>{shortId(value)}</span>
      {copy && <CopyButton text={value} label={`Copy ${value}`} />}
    </span>
  );
}
