import { afterEach, beforeEach, expect, test } from 'vitest';
import { transaction } from '../db/transaction.ts';
import { takeBatch } from '../events/index.ts';
import { until } from '../events/events.fixture.ts';
import { fanOut } from './fan-out.ts';
import { openSending } from './sending.fixture.ts';
import type { Sending } from './sending.fixture.ts';

let s: Sending;
beforeEach(async () => {
  s = await openSending();
});
afterEach(() => s.close());

/** Publishes, and returns the sequences once they are in the log. */
async function publish(types: string[], at?: Parameters<Sending['publish']>[1]): Promise<void> {
  const log = s.ctx.db.selectFrom('log_state').select('last_sequence');
  const { last_sequence: before } = await log.executeTakeFirstOrThrow();
  for (const type of types) await s.publish(type, at);
  await until(async () => (await log.executeTakeFirstOrThrow()).last_sequence === before + types.length);
}
const URL = 'https://hook.test/';
const take = () => takeBatch(s.ctx, fanOut(s.ctx));
const given = async (id: string) => (await s.deliveries(id)).map(({ event_type: type }) => type);

test('each matching event creates one pending delivery, which contains the event, in the order of the log', async () => {
  const [all, runs, paused, gone, failing] = [
    await s.subscribe(URL),
    await s.subscribe(URL, { types: ['run.*'] }),
    await s.subscribe(URL, { disabled_reason: 'user' }),
    await s.subscribe(URL, { disabled_reason: 'gone' }),
    await s.subscribe(URL, { disabled_reason: 'failures' }),
  ];
  const types = ['run.queued', 'thread.updated', 'run.completed'];
  await publish(types);
  expect(await take()).toBe(3);
  expect(await take()).toBe(0);
  expect(await Promise.all([all, runs, paused, gone, failing].map(({ id }) => given(id)))).toEqual([
    types,
    ['run.queued', 'run.completed'],
    types,
    [],
    [],
  ]);
  const rows = await s.deliveries(all.id);
  expect(rows[0]).toMatchObject({
    org_id: s.orgId,
    status: 'pending',
    attempt_count: 0,
    event: { sequence: 1, projectId: null, threadId: null, runId: null, data: {} },
  });
  expect(rows.map(({ event }) => event.publishedAt)).toEqual(
    rows.map(({ next_attempt_at: due }) => due!.toISOString()),
  );
});

test('events of apps, of other organizations and from before the subscription create none', async () => {
  await publish(['run.queued']);
  const { id } = await s.subscribe(URL);
  await publish(['run.running'], { feed: 'platform' });
  await publish(['run.waiting'], { orgId: await s.organization() });
  await publish(['run.completed']);
  await take();
  expect(await given(id)).toEqual(['run.completed']);
});

test('a batch that fails creates nothing, and is taken again', async () => {
  const { id } = await s.subscribe(URL);
  await publish(['run.queued', 'run.completed']);
  const failing = fanOut(s.ctx);
  await expect(
    takeBatch(s.ctx, {
      ...failing,
      async take(tx, events) {
        await failing.take(tx, events);
        throw new Error('the process ends here');
      },
    }),
  ).rejects.toThrow('ends here');
  expect(await given(id)).toEqual([]);
  await take();
  expect(await given(id)).toEqual(['run.queued', 'run.completed']);
});

test('many events for many subscriptions are numbered in the order of the log', async () => {
  const ids = await Promise.all(Array.from({ length: 30 }, async () => (await s.subscribe(URL)).id));
  const types = Array.from({ length: 100 }, (_, n) => `run.${n}`);
  await transaction(s.ctx, async (tx) => {
    for (const type of types)
      tx.events.push({
        id: `evt_${type}`,
        orgId: s.orgId,
        projectId: null,
        feed: 'direct',
        threadId: null,
        runId: null,
        type,
        data: {},
      });
  });
  const log = s.ctx.db.selectFrom('log_state').select('last_sequence');
  await until(async () => (await log.executeTakeFirstOrThrow()).last_sequence === 100);
  expect(await take()).toBe(100);
  for (const id of ids) expect(await given(id)).toEqual(types);
});
