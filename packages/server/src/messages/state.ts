/**
 * The delivery of a message to the agent of an active run (`steering`; null: nothing to deliver). Only a
 * message that joins an active run is delivered; any other one is its run's prompt.
 *
 *   null   join     sent    the agent does not have it yet
 *   sent   take     taken   it is part of the agent's conversation
 *   sent   return   null    the run ended first: the message is cancelled, or becomes a new run
 */
import type { MessageRow } from '../db/schema.ts';

type Delivery = MessageRow['steering'];
type DeliveryEvent = 'join' | 'take' | 'return';

const TRANSITIONS = {
  join: { from: null, to: 'sent' },
  take: { from: 'sent', to: 'taken' },
  return: { from: 'sent', to: null },
} as const satisfies Record<DeliveryEvent, { from: Delivery; to: Delivery }>;

/** Which delivery an event needs, and which one it leaves. */
export const deliveryChange = <E extends DeliveryEvent>(event: E): (typeof TRANSITIONS)[E] =>
  TRANSITIONS[event];
