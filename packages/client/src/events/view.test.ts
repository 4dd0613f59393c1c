import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HeadraceError } from '../errors.ts';
import { loopback, refusal, sendJson } from '../loopback.fixture.ts';
import { eventFrame, frame, sendFrames } from './feed.fixture.ts';
import type { ViewOptions } from './index.ts';

beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

/** A store with transactions, and what it was asked to do. */
function store(steps: string[]) {
  return {
    load: (cursor, reason) => void steps.push(`load ${cursor} ${reason}`),
    apply: ({ id }, cursor) => void steps.push(`apply ${id} ${cursor}`),
    save: (cursor) => void steps.push(`save ${cursor}`),
  } satisfies ViewOptions;
}

const LAST = eventFrame(9, 'platform.app.deleted');

test('a view reads the head before its snapshot, applies each event once, and saves the cursors of heartbeats', async () => {
  const steps: string[] = [];
  await using server = await loopback((response, { url }) => {
    if (url.includes('/head')) {
      steps.push('head');
      return sendJson(response, 200, { ok: true, cursor: 'c0' });
    }
    const from = steps.filter((step) => step.startsWith('apply')).length;
    const heartbeat = frame('heartbeat', { cursor: `beat${from}` }, `beat${from}`);
    if (from === 0) sendFrames(response, eventFrame(1), heartbeat, eventFrame(2));
    else sendFrames(response, eventFrame(2), heartbeat, LAST);
    response.end();
  });
  await server.client.events.view({ appId: 'prj_1' }, store(steps));
  expect(steps).toEqual([
    'head',
    'load c0 start',
    'apply evt_1 c1',
    'save beat0',
    'apply evt_2 c2',
    'save beat2',
    'apply evt_9 c9',
  ]);
});

test('a view with a stored cursor continues from it, without a snapshot', async () => {
  const steps: string[] = [];
  await using server = await loopback((response) => sendFrames(response, LAST));
  await server.client.events.view({ appId: 'prj_1' }, { ...store(steps), cursor: 'c5' });
  expect(steps).toEqual(['apply evt_9 c9']);
  expect(server.seen.map((s) => s.headers['last-event-id'])).toEqual(['c5']);
});

test.each(['cursor_expired', 'cursor_scope_changed'])(
  '%s loads the view again, from a new head',
  async (code) => {
    const steps: string[] = [];
    await using server = await loopback((response, { url, headers }) => {
      if (url.includes('/head')) sendJson(response, 200, { ok: true, cursor: 'c7' });
      else if (headers['last-event-id'] === 'old') sendJson(response, 410, refusal(code));
      else sendFrames(response, eventFrame(8), LAST);
    });
    await server.client.events.view({ appId: 'prj_1' }, { ...store(steps), cursor: 'old' });
    expect(steps).toEqual([`load c7 ${code}`, 'apply evt_8 c8', 'apply evt_9 c9']);
  },
);

test('a load that the service could not answer is repeated, with the same cursor', async () => {
  const steps: string[] = [];
  await using server = await loopback((response, { url }) => {
    if (url.includes('/head')) sendJson(response, 200, { ok: true, cursor: 'c0' });
    else sendFrames(response, LAST);
  });
  const view = store(steps);
  await server.client.events.view(
    { appId: 'prj_1' },
    {
      ...view,
      load(cursor, reason) {
        view.load(cursor, reason);
        if (steps.length < 9) throw new HeadraceError(429, 'rate_limited', 'No.');
      },
    },
  );
  expect(steps).toEqual([...Array<string>(9).fill('load c0 start'), 'apply evt_9 c9']);
});

test.each(['load', 'apply', 'save'] as const)(
  'what %s throws ends the view, and its connection',
  async (name) => {
    const fault = new Error('the database is gone');
    let open = 0;
    await using server = await loopback((response, { url }) => {
      if (url.includes('/head')) return sendJson(response, 200, { ok: true, cursor: 'c0' });
      open++;
      response.on('close', () => open--);
      sendFrames(response, eventFrame(1), frame('heartbeat', { cursor: 'c2' }, 'c2'));
    });
    const view = { ...store([]), [name]: () => Promise.reject(fault) };
    await expect(server.client.events.view({}, view)).rejects.toBe(fault);
    await vi.waitFor(() => expect(open).toBe(0));
  },
);

test('a view applies each event once even if its process dies at any step', async () => {
  const COUNT = 40;
  await using server = await loopback((response, { url, headers }) => {
    if (url.includes('/head')) return sendJson(response, 200, { ok: true, cursor: 'c0' });
    const from = Number(String(headers['last-event-id']).slice(1));
    for (let n = from + 1; n <= COUNT; n++) {
      const heartbeat = n % 5 ? '' : frame('heartbeat', { cursor: `c${n}` }, `c${n}`);
      sendFrames(response, eventFrame(n, n === COUNT ? 'platform.app.deleted' : undefined), heartbeat);
    }
  });
  /** What is stored, changed as a whole or not at all. */
  let stored: { cursor?: string; events: string[] } = { events: [] };
  const deaths = 3 * COUNT;
  let [step, died] = [0, 0];
  const end = { isOver: false };
  while (!end.isOver) {
    const commit = (next: typeof stored) => {
      const [before, after] = [step % 3 === 1, step % 3 === 2];
      step++;
      if (before && died++ < deaths) throw new Error('died');
      stored = next;
      if (after && died++ < deaths) throw new Error('died');
    };
    await server.client.events
      .view(
        { appId: 'prj_1' },
        {
          ...(stored.cursor === undefined ? {} : { cursor: stored.cursor }),
          load: (cursor) => commit({ cursor, events: [] }),
          apply: ({ id }, cursor) => commit({ cursor, events: [...stored.events, id] }),
          save: (cursor) => commit({ ...stored, cursor }),
        },
      )
      .then(
        () => (end.isOver = true),
        (error: Error) => {
          if (error.message !== 'died') throw error;
          end.isOver = stored.cursor === `c${COUNT}`;
        },
      );
  }
  expect(stored.events).toEqual(Array.from({ length: COUNT }, (_, i) => `evt_${i + 1}`));
});
