/** Which subscription gets which event: events of the Direct feed, of the subscription's organization, project and types. */
import type { EventRow, WebhookSubscriptionRow } from '../db/schema.ts';

export type Subscriber = Pick<
  WebhookSubscriptionRow,
  'org_id' | 'id' | 'project_id' | 'types' | 'after_sequence'
>;

type Matched = Pick<EventRow, 'org_id' | 'feed' | 'project_id' | 'type' | 'sequence'>;

/** Every pair of a subscription and an event that it gets, in the order of the events. */
export function matchAll<E extends Matched, S extends Subscriber>(
  events: readonly E[],
  subscribers: readonly S[],
): { event: E; subscriber: S }[] {
  const ofOrganization = Map.groupBy(
    subscribers.map((subscriber) => ({ subscriber, wanted: new Set(subscriber.types) })),
    ({ subscriber }) => subscriber.org_id,
  );
  return events.flatMap((event) =>
    (ofOrganization.get(event.org_id) ?? [])
      .filter(({ subscriber, wanted }) => isFor(subscriber, event) && isWanted(wanted, event.type))
      .map(({ subscriber }) => ({ event, subscriber })),
  );
}

const isFor = (subscriber: Subscriber, event: Matched): boolean =>
  event.feed === 'direct' &&
  event.sequence > subscriber.after_sequence &&
  (subscriber.project_id === null || subscriber.project_id === event.project_id);

/** An empty list means all; `run.*` means every type that consists of `run.` and one more word. */
const isWanted = (types: ReadonlySet<string>, type: string): boolean =>
  types.size === 0 ||
  types.has('*') ||
  types.has(type) ||
  types.has(`${type.slice(0, type.lastIndexOf('.'))}.*`);
