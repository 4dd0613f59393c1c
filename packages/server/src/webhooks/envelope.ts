import { directEventView } from '../events/index.ts';
import type { DueDelivery } from './delivery-store.ts';

type Delivered = Pick<DueDelivery, 'org_id' | 'event_id' | 'event_type' | 'event' | 'generation'>;

/** The body of a request: the event as the Direct feed shows it. A ping is on no feed, so it has no sequence and no cursor. */
export function envelopeOf(
  { org_id, event_id, event_type, event, generation }: Delivered,
  secret: Buffer,
): Buffer {
  const { sequence, projectId, threadId, runId, data, occurredAt, publishedAt } = event;
  const view = directEventView(
    {
      org_id,
      sequence: sequence ?? 0,
      event_id,
      feed: 'direct',
      type: event_type,
      project_id: projectId,
      thread_id: threadId,
      run_id: runId,
      data,
      occurred_at: new Date(occurredAt),
      published_at: new Date(publishedAt),
    },
    secret,
    generation,
  );
  return Buffer.from(JSON.stringify(sequence === null ? { ...view, sequence: null, cursor: null } : view));
}
