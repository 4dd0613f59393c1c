/** Compares what writers were answered and readers were given with the log. Pure. */
import type { LoggedEvent } from '../lib/log-table.ts';
import type { Reader } from './readers.ts';
import { markOf } from './writers.ts';
import type { Acknowledged } from './writers.ts';

export interface Verdict {
  /**
   * Events of acknowledged writes that are not in the log, and events of the log that a reader of their
   * feed was not given.
   */
  lost: number;
  /** Effects that are in the log twice, and events that a reader was given twice. */
  doubled: number;
  /** Events in another order than the log's, or than their causes'. */
  misordered: number;
  /** In the log, or given to a reader, though nobody wrote them. */
  unknown: number;
  failures: string[];
}

const newVerdict = (): Verdict => ({ lost: 0, doubled: 0, misordered: 0, unknown: 0, failures: [] });

/**
 * Every acknowledged write's events are in the log once, and a write answered before another was sent
 * precedes it.
 */
export function judgeLog(
  log: readonly LoggedEvent[],
  acknowledged: readonly Acknowledged[],
  isWritten: (type: string) => boolean,
): Verdict {
  const verdict = newVerdict();
  const sequences = new Map<string, number[]>();
  const ids = new Set<string>();
  for (const [i, event] of log.entries()) {
    if (ids.has(event.id)) note(verdict, 'doubled', `event ${event.id} is in the log twice`);
    ids.add(event.id);
    if (event.sequence !== log[0]!.sequence + i)
      note(verdict, 'misordered', `sequence ${event.sequence} stands at place ${i}`);
    const mark = markOf(event);
    if (mark !== null) sequences.set(mark, [...(sequences.get(mark) ?? []), event.sequence]);
  }
  const told = new Set(acknowledged.flatMap(({ marks }) => marks));
  for (const mark of told)
    if (!sequences.has(mark))
      note(verdict, 'lost', `an acknowledged write's event is not in the log: ${mark}`);
  for (const [mark, at] of sequences) {
    if (told.has(mark) && at.length > 1)
      note(verdict, 'doubled', `${mark} is in the log ${at.length} times: ${at.join(', ')}`);
    if (!told.has(mark) && isWritten(mark.split(' ')[0]!))
      note(verdict, 'unknown', `${mark} is in the log, and nobody wrote it`);
  }
  judgeCauses(verdict, acknowledged, sequences);
  return verdict;
}

/** By the first mark, which the write's own transaction published. */
function judgeCauses(
  verdict: Verdict,
  acknowledged: readonly Acknowledged[],
  sequences: ReadonlyMap<string, number[]>,
): void {
  const writes = acknowledged.flatMap((write) => {
    const sequence = write.marks.length ? sequences.get(write.marks[0]!)?.[0] : undefined;
    return sequence === undefined ? [] : [{ ...write, sequence }];
  });
  const answered = writes.toSorted((a, b) => a.answeredAt - b.answeredAt);
  let next = 0;
  let highest = { sequence: 0, marks: [''] };
  for (const write of writes.toSorted((a, b) => a.sentAt - b.sentAt)) {
    for (; next < answered.length && answered[next]!.answeredAt < write.sentAt; next++)
      if (answered[next]!.sequence > highest.sequence) highest = answered[next]!;
    if (highest.sequence > write.sequence)
      note(
        verdict,
        'misordered',
        `${write.marks[0]} (${write.sequence}) was sent after the answer to ${highest.marks[0]} (${highest.sequence}), and stands before it`,
      );
  }
}

/** A reader was given the events of its feed, all of them, once, in the log's order. */
export function judgeReader(
  log: readonly LoggedEvent[],
  reader: Pick<Reader, 'name' | 'seen'> & { feed: Pick<Reader['feed'], 'shows'> },
): Verdict {
  const verdict = newVerdict();
  const places = new Map<string, number>();
  for (const event of log) if (reader.feed.shows(event)) places.set(event.id, places.size);
  const given = new Set<string>();
  let last = -1;
  for (const id of reader.seen) {
    if (given.has(id)) {
      note(verdict, 'doubled', `${reader.name} was given ${id} twice`);
      continue;
    }
    given.add(id);
    const place = places.get(id);
    if (place === undefined)
      note(verdict, 'unknown', `${reader.name} was given ${id}, which is not in its log`);
    else if (place < last) note(verdict, 'misordered', `${reader.name} was given ${id} after later ones`);
    else last = place;
  }
  for (const id of places.keys())
    if (!given.has(id)) note(verdict, 'lost', `${reader.name} was not given ${id}`);
  return verdict;
}

export function added(verdicts: readonly Verdict[]): Verdict {
  const sum = newVerdict();
  for (const { failures, ...counts } of verdicts) {
    for (const kind of ['lost', 'doubled', 'misordered', 'unknown'] as const) sum[kind] += counts[kind];
    sum.failures.push(...failures);
  }
  return sum;
}

/** The first few of a kind are enough to look for it. */
const SHOWN = 5;

function note(verdict: Verdict, kind: 'lost' | 'doubled' | 'misordered' | 'unknown', failure: string): void {
  if (++verdict[kind] <= SHOWN) verdict.failures.push(failure);
}

/** As it appears in a line. */
export const lossesOf = (v: Verdict) =>
  `${v.lost} lost, ${v.doubled} duplicates, ${v.unknown} unknown, ${v.misordered ? `${v.misordered} OUT OF ORDER` : 'one order for all readers'}`;
