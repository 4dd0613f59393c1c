/** Compares the requests that receivers got with the log. Pure. */
import type { LoggedEvent } from '../lib/log-table.ts';
import { KINDS } from './receivers.ts';
import type { Arrival, Receiver } from './receivers.ts';

/** Of one subscription. */
const MOST_UNDER_WAY = 8;
const SHOWN = 5;

export interface Verdict {
  /** Requests that arrived. */
  requests: number;
  /** Events that a living receiver did not get. */
  lost: number;
  /** Requests with an event that does not match the subscription, is not in the log, or differs from it. */
  wrong: number;
  /** First attempts before those of earlier events. */
  misordered: number;
  failures: string[];
}

type Judged = Pick<Receiver, 'name' | 'kind' | 'subscription' | 'arrivals' | 'faults' | 'mostUnderWay'>;

/** Whether a subscription gets an event; written independently of the service's code. */
export function matches({ types, projectId }: Receiver['subscription'], event: LoggedEvent): boolean {
  if (event.feed !== 'direct') return false;
  if (projectId !== null && event.projectId !== projectId) return false;
  const group = `${event.type.split('.').slice(0, -1).join('.')}.*`;
  return types.length === 0 || types.some((type) => ['*', group, event.type].includes(type));
}

/** `log`: from the first relevant event, in order; requests with earlier events do not count. */
export function judgeReceiver(log: readonly LoggedEvent[], receiver: Judged): Verdict {
  const verdict: Verdict = {
    requests: receiver.arrivals.length,
    lost: 0,
    wrong: 0,
    misordered: 0,
    failures: receiver.faults.slice(0, SHOWN),
  };
  const note = (kind: 'lost' | 'wrong' | 'misordered', why: string) => {
    if (++verdict[kind] <= SHOWN) verdict.failures.push(`${receiver.name}: ${why}`);
  };
  const events = new Map(log.map((event) => [event.id, event]));
  const due = log.filter((event) => matches(receiver.subscription, event));
  const places = new Map(due.map(({ id }, place) => [id, place]));
  const firsts: number[] = [];
  const given = new Set<string>();
  for (const arrival of receiver.arrivals) {
    if (arrival.sequence < (log[0]?.sequence ?? Infinity)) continue;
    const event = events.get(arrival.id);
    const place = places.get(arrival.id);
    if (!event) note('wrong', `was given ${arrival.id}, which is not in the log`);
    else if (place === undefined) note('wrong', `was given ${event.type} of ${event.projectId}`);
    else if (!isSame(arrival, event)) note('wrong', `was given ${arrival.id} with something else in it`);
    else if (!given.has(arrival.id)) firsts.push(place);
    given.add(arrival.id);
  }
  const { isLiving, seesAll } = KINDS[receiver.kind];
  if (isLiving) for (const { id } of due) if (!given.has(id)) note('lost', `was not given ${id}`);
  if (seesAll)
    for (const { place, missing } of tooEarly(firsts))
      note('misordered', `event ${place} of ${due.length} arrived while ${missing} earlier ones had not`);
  if (receiver.mostUnderWay > MOST_UNDER_WAY)
    note('misordered', `${receiver.mostUnderWay} requests were under way at once`);
  return verdict;
}

const isSame = (arrival: Arrival, event: LoggedEvent) =>
  (['sequence', 'type', 'projectId', 'threadId', 'runId'] as const).every(
    (name) => arrival[name] === event[name],
  ) && arrival.data === JSON.stringify(event.data);

/**
 * First arrivals that are out of order: an attempt begins after the attempts of all earlier events, of which at most
 * seven are still in flight and may arrive later.
 */
function tooEarly(places: readonly number[]): { place: number; missing: number }[] {
  const found: { place: number; missing: number }[] = [];
  const above = new Set<number>();
  let next = 0;
  for (const place of places) {
    above.add(place);
    let missing = 0;
    for (let i = next; i < place; i++) if (!above.has(i)) missing++;
    if (missing >= MOST_UNDER_WAY) found.push({ place, missing });
    for (; above.has(next); next++) above.delete(next);
  }
  return found;
}
