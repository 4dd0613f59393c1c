import type { EventRow } from '../db/schema.ts';
import { bindingOf, sealPosition } from './cursor.ts';
import type { Binding } from './cursor.ts';

/** The position behind this event. */
export const positionOf = (e: EventRow) => ({ sequence: e.sequence, time: e.published_at.getTime() });

/** The envelope, with the cursor that a reader of this binding resumes with. */
export const eventView = (e: EventRow, secret: Buffer, binding: Binding) => ({
  id: e.event_id,
  type: e.type,
  sequence: String(e.sequence),
  orgId: e.org_id,
  ...(e.feed === 'platform' ? { appId: e.project_id } : {}),
  projectId: e.project_id,
  threadId: e.thread_id,
  runId: e.run_id,
  data: e.data,
  occurredAt: e.occurred_at.toISOString(),
  publishedAt: e.published_at.toISOString(),
  cursor: sealPosition(secret, binding, positionOf(e)),
});

/** The envelope of an event of the Direct feed, with a cursor of that feed without filters. */
export const directEventView = (e: EventRow, secret: Buffer, generation: number) =>
  eventView(
    e,
    secret,
    bindingOf(
      {
        orgId: e.org_id,
        feed: 'direct',
        projectId: null,
        projectIds: null,
        threadId: null,
        runId: null,
        types: null,
      },
      generation,
    ),
  );
