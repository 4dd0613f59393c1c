/**
 * How many statements a run of one line costs, from its message to its end. What the whole service shares is
 * not among them: claims, the publisher, the log's reader and wake-ups.
 */
import pg from 'pg';
import { afterAll, expect, test, vi } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import { newBench, sh, until } from '../threads/threads.fixture.ts';

/** As measured: whoever adds one has a reason, and lists it here. The last two tell whether the thread is at a host. */
const STATEMENTS = 84;
/** These come with time, however long the machine takes for the run, or are for all runs at once. */
const IS_PACED = /^select "status", "cancel_requested_at"|^with recursive orgs|pg_notify/;

const s = await startTestServer();
afterAll(() => s.close());

interface Sent {
  text: string;
  values: string;
}

/** All statements until `end` is called, in groups: each transaction is one, each other statement too. */
function capture(): { groups: Sent[][]; end(): void } {
  const groups: Sent[][] = [];
  const open = new Map<pg.Client, Sent[]>();
  const original = pg.Client.prototype.query;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...args: unknown[]
  ) {
    const [first, given] = args as [string | { text: string; values?: unknown[] }, unknown[]?];
    const { text, values = given ?? [] } = typeof first === 'string' ? { text: first } : first;
    const sent = { text: text.trim(), values: JSON.stringify(values) };
    if (text === 'begin') open.set(this, []);
    const group = open.get(this) ?? [];
    if (group.push(sent) === 1) groups.push(group);
    if (text === 'commit' || text === 'rollback') open.delete(this);
    return Reflect.apply(original, this, args) as never;
  });
  return { groups, end: () => spy.mockRestore() };
}

/** `update runs`, `insert into outbox`: what it does, to which table. */
const kindOf = ({ text }: Sent): string =>
  (
    /^(?:insert into|update|delete from) "?\w+"?|^select.*?\bfrom "?\w+"?/s.exec(text)?.[0] ??
    text.slice(0, 40)
  ).replace(/^select.*?from/s, 'select from');

test.skipIf(s.service.ctx.runnerStatus()?.ok !== true)(
  `a run takes at most ${STATEMENTS} statements`,
  async () => {
    const bench = await newBench(s);
    await bench.ready();
    // The first run of a thread and of a process knows less.
    for (const word of ['a', 'b']) await bench.work(sh(`echo ${word} >> a.txt`));
    const jobEnded = () =>
      until('the job to end', async () => {
        const { db } = s.service.ctx;
        return (
          (await db.selectFrom('jobs').select('id').where('kind', '=', 'run.work').execute()).length === 0
        );
      });
    await jobEnded();
    const { groups, end } = capture();
    let runId: string;
    try {
      runId = (await bench.send(sh('echo c >> a.txt'))).run.id as string;
      await jobEnded();
    } finally {
      end();
    }
    expect(await bench.ended(runId)).toMatchObject({ status: 'completed' });
    const ids = [bench.threadId, bench.appId, runId];
    const ours = groups
      .filter((group) => group.some(({ values }) => ids.some((id) => values.includes(id))))
      .flat()
      .filter(({ text }) => !IS_PACED.test(text));
    expect(ours.length, ours.map(kindOf).join('\n')).toBeLessThanOrEqual(STATEMENTS);
  },
);
