/** Which subscription gets which event: those of the Direct feed alone, of its organization, project and types. */
import type { EventRow, WebhookSubscriptionRow } from '../db/schema.ts';

export type Subscriber = Pick<
  WebhookSubscriptionRow,
  'org_id' | 'id' | 'project_id' | 'types' | 'after_sequence'
>;

type Matched = Pick<EventRow, 'org_id' | 'feed' | 'project_id' | 'type' | 'sequence'>;

/** Every subscription with every event that it gets, in the order of the events. */
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

/** No types mean all; `run.*` means every type that is `run.` and one more word. */
const isWanted = (types: ReadonlySet<string>, type: string): boolean =>
  types.size === 0 ||
  types.has('*') ||
  types.has(type) ||
  types.has(`${type.slice(0, type.lastIndexOf('.'))}.*`);
