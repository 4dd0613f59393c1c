import { afterEach, expect, test } from 'vitest';
import { until } from '../events/events.fixture.ts';
import { openReceiver, openSending } from './sending.fixture.ts';
import type { Receiver, Sending } from './sending.fixture.ts';

let opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});
const sending = async (settings?: Parameters<typeof openSending>[0]): Promise<Sending> => {
  const one = await openSending(settings);
  opened.push(one);
  return one;
};
const receiver = async (answer?: Receiver['answer']): Promise<Receiver> => {
  const one = await openReceiver(answer);
  opened.push(one);
  return one;
};

/** The deliveries of a subscription, once there are `count` and none is pending. */
const ended = (s: Sending, id: string, count = 1) =>
  until(async () => {
    const all = await s.deliveries(id);
    return all.length >= count && all.every(({ status }) => status !== 'pending') ? all : null;
  });

test('an event of the Direct feed is posted once, as the feed shows it', async () => {
  const s = await sending();
  const r = await receiver();
  const { id } = await s.subscribe(r);
  s.start();
  const eventId = await s.publish('run.completed', { data: { id: 'run_1', status: 'completed' } });
  const [delivery] = await ended(s, id);
  expect(r.requests).toHaveLength(1);
  const [{ headers, json }] = r.requests as [Receiver['requests'][0]];
  expect(json).toMatchObject({
    id: eventId,
    type: 'run.completed',
    orgId: s.orgId,
    sequence: '1',
    data: { id: 'run_1', status: 'completed' },
  });
  expect(headers).toMatchObject({
    'webhook-id': eventId,
    'content-type': 'application/json',
    'user-agent': 'Headrace/1.2.3',
  });
  expect(delivery).toMatchObject({
    attempt_count: 1,
    attempts: [{ statusCode: 200, error: null, response: '' }],
  });
});
