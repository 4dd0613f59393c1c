/** An event as a line for people. */
import type { Paint } from '../terminal/style.ts';
import { oneLine } from '../terminal/escape.ts';
import { statusColor } from '../terminal/style.ts';
import type { AnyEvent } from './saved.ts';

const TYPE_WIDTH = 26;

/** `2026-11-23 11:40:12  platform.build.ready        bld_…  ready  thr_…`, in the time of the terminal. */
export function eventLine({ type, occurredAt, data, threadId }: AnyEvent, paint: Paint): string {
  const { id, status, role } = data as { id?: string; status?: string; role?: string };
  const what = status ?? role;
  const thread = threadId !== null && threadId !== id ? threadId : undefined;
  return [
    paint('dim', timeOf(occurredAt)),
    paint('bold', oneLine(type).padEnd(TYPE_WIDTH)),
    oneLine(id ?? '-'),
    ...(what === undefined ? [] : [paint(statusColor(what), oneLine(what))]),
    ...(thread === undefined ? [] : [paint('dim', oneLine(thread))]),
  ].join('  ');
}

function timeOf(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return oneLine(iso);
  const two = (part: number) => String(part).padStart(2, '0');
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${date} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`;
}
