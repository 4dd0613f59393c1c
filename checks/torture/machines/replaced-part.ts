/**
 * Each process of the three machines replaced, one after the other, as a rolling deployment does it: SIGTERM, its end by
 * itself, a new one. Fifty runs are under way or queued, and a stream follows the log through both APIs all along. No run is
 * lost: each completes, with one end in the log; the stream has every event once and in order.
 *
 * Seen to fail: a runner that ends at once on SIGTERM (its runs fail as worker_lost).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Part, Setup } from '../lib/part.ts';
import { sharedLab } from './lab.ts';
import type { Lab } from './lab.ts';

const RUNS = 50;
const AT_ONCE = 24;
/** Of each run's command: at its beginning, some of its machines are yet to be replaced. */
const WORK_SECONDS = 40;
const DRAIN_LIMIT_MS = 600_000;
const END_LIMIT_MS = 900_000;

export const replacedPart: Part = {
  name: 'replaced',
  title: 'No run is lost when every process of three machines is replaced, and streams go on',
  seconds: 600,
  async run(setup) {
    const lab = await sharedLab(setup);
    const { app, sourceId } = await newAppWith(lab.caller, [{ path: 'a.txt', content: 'a\n' }]);
    const threads: string[] = [];
    for (let n = 0; n < setup.count(RUNS, 4); n++)
      threads.push(await newReadyThread(lab.caller, app, sourceId));
    const feed = `${app}/events`;
    const { cursor: head } = (await lab.caller.call('GET', `${feed}/head`)).body as { cursor: string };
    const follower = follow(lab, { feed, head }, setup);
    const paths = await Promise.all(
      threads.map(async (thread) => {
        const { body } = await lab.caller.call('POST', `${thread}/messages`, {
          content: `\`\`\`sh\nsleep ${WORK_SECONDS}; echo done > done.txt\n\`\`\``,
        });
        return `${thread}/runs/${body.run.id as string}`;
      }),
    );
    const active = Math.min(AT_ONCE, paths.length);
    await lab.until(`${active} runs under way`, async () => {
      const [row] = await lab.query<{ n: number }>(
        `select count(*)::integer as n from runs where status = 'running'`,
      );
      return row!.n >= active || undefined;
    });
    const replaced: string[] = [];
    for (const role of lab.roles) {
      setup.signal.throwIfAborted();
      role.terminate();
      await role.ended(DRAIN_LIMIT_MS);
      await role.start();
      if (role.role === 'runner') await lab.registered(role);
      replaced.push(role.name);
      setup.say(`${role.name} is replaced`);
    }
    const failures: string[] = [];
    const deadline = Date.now() + END_LIMIT_MS;
    await Promise.all(
      paths.map(async (path) => {
        for (;;) {
          const { run } = (await lab.caller.call('GET', `${path}?waitSeconds=20`)).body;
          if (run.finishedAt !== null) {
            if (run.status !== 'completed') failures.push(`${path} is ${run.status} with ${run.error?.code}`);
            return;
          }
          if (Date.now() > deadline || setup.signal.aborted) return void failures.push(`${path} did not end`);
        }
      }),
    );
    await lab.settled();
    const events: { id: string; type: string }[] = [];
    for (let cursor = head; ;) {
      const at = encodeURIComponent(cursor);
      const page = (await lab.caller.call('GET', `${feed}?limit=500&cursor=${at}`)).body;
      events.push(...page.events);
      if (page.events.length === 0) break;
      cursor = page.nextCursor;
    }
    const ends = events.filter(({ type }) => /^run\.(completed|failed|cancelled)$/.test(type));
    if (ends.length !== paths.length) failures.push(`${ends.length} ends of ${paths.length} runs`);
    const seen = await follower.upTo(events.at(-1)!.id);
    if (seen.join() !== events.map(({ id }) => id).join())
      failures.push(
        `the stream has ${seen.length} events (${new Set(seen).size} different ones) of ${events.length}`,
      );
    const figures = {
      processes: replaced.length,
      runs: paths.length,
      lost: failures.length,
      events: seen.length,
      reconnects: follower.reconnects(),
    };
    return {
      line: `${figures.processes} processes replaced under ${figures.runs} runs, ${active} of them at once: all completed, with one end each; a stream had its ${figures.events} events once and in order over ${figures.reconnects} reconnections; ${failures.length} promises broken`,
      figures,
      failures,
    };
  },
};

/** Reads a feed, and goes on from its last cursor whenever the connection ends. */
function follow(lab: Lab, { feed, head }: { feed: string; head: string }, setup: Setup) {
  const seen: string[] = [];
  const over = new AbortController();
  setup.atEnd(() => over.abort());
  let cursor = head;
  let connections = 0;
  void (async () => {
    while (!over.signal.aborted) {
      try {
        const stream = await lab.caller.open(`${feed}/stream`, {
          headers: { 'last-event-id': cursor },
          signal: over.signal,
        });
        connections++;
        const parser = createParser({
          onEvent({ id, data }) {
            const event = JSON.parse(data) as { id?: string };
            if (id === undefined || event.id === undefined) return;
            seen.push(event.id);
            cursor = id;
          },
        });
        for await (const part of stream.setEncoding('utf8')) parser.feed(part as string);
      } catch {
        await sleep(100);
      }
    }
  })();
  return {
    reconnects: () => connections - 1,
    async upTo(id: string): Promise<string[]> {
      await lab.until('the stream to have all events', async () => seen.includes(id) || undefined);
      over.abort();
      return seen;
    },
  };
}
