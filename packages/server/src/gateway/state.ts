/**
 * The status of a model call:
 *
 *   open   settle   settled   it has ended, or its process died
 */
import type { ModelCallRow } from '../db/schema.ts';

type CallEvent = 'settle';

const TRANSITIONS = {
  settle: { from: 'open', to: 'settled' },
} as const satisfies Record<CallEvent, { from: ModelCallRow['status']; to: ModelCallRow['status'] }>;

/** Which status an event needs, and which one it leaves. */
export const callChange = (event: CallEvent): (typeof TRANSITIONS)[CallEvent] => TRANSITIONS[event];
