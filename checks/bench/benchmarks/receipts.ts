/** Idempotent PATCHes a second, compared with the same write without a receipt, in the same process. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { newApp } from '../../harness/apps.ts';
import type { Benchmark } from '../lib/benchmark.ts';
import { startDatabase, startServiceOn } from '../../harness/database.ts';
import { load } from '../lib/load.ts';
import type { Service } from '../../harness/service.ts';
import { summarize } from '../../harness/statistics.ts';

const CONNECTIONS = 16;
const PRELOAD = join(import.meta.dirname, '../without-receipt.ts');

export const receiptsBenchmark: Benchmark = {
  name: 'receipts',
  title: `PATCH app over ${CONNECTIONS} connections`,
  async run(setup) {
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const service = await startServiceOn(setup, database, { HEADRACE_ROLES: 'api' }, ['--import', PRELOAD]);
    const apps: string[] = [];
    for (let i = 0; i < CONNECTIONS; i++) apps.push(await newApp(service));
    await expectReceipts(service, apps[0]!);

    const seconds = setup.quick ? 1 : 3;
    const [withReceipt, without]: [number[], number[]] = [[], []];
    for (let round = -1; round < (setup.quick ? 2 : 6); round++) {
      const rates = [await rename(apps, true), await rename(apps, false)] as const;
      // The first round compiles both.
      if (round < 0) continue;
      withReceipt.push(rates[0]);
      without.push(rates[1]);
      setup.say(
        `round ${round + 1}: with receipt ${rates[0].toFixed(0)}/s, without ${rates[1].toFixed(0)}/s`,
      );
    }
    const [ours, theirs] = [summarize(withReceipt), summarize(without)];
    return {
      rows: [
        { what: 'with Idempotency-Key and receipt', unit: 'requests/s', figures: ours },
        { what: 'without', unit: 'requests/s', figures: theirs },
      ],
      aims: [
        {
          what: 'of the write without receipt (medians)',
          bound: 'least',
          limit: 60,
          value: (ours.median / theirs.median) * 100,
          unit: '%',
        },
      ],
      notes: [
        `In turns of ${seconds} s, each connection renames its own app, with a new key each time. Both are routes of one service process: the second exists only for the benchmark (checks/bench/without-receipt.ts) and runs the same operation, transaction and event behind the same authentication, rate limit and schema, without fingerprint, claim and receipt. Each write is on disk before it is answered.`,
      ],
    };

    function rename(paths: string[], isReceipted: boolean): Promise<number> {
      let count = 0;
      return load(
        service.base,
        (connection) => {
          const path = isReceipted ? paths[connection]! : withoutReceipt(paths[connection]!);
          return {
            method: 'PATCH',
            path,
            headers: {
              'x-api-key': service.key,
              ...(isReceipted ? { 'idempotency-key': randomUUID() } : {}),
            },
            body: { name: `Name ${++count} ${isReceipted}` },
          };
        },
        CONNECTIONS,
        seconds,
      );
    }
  },
};

const withoutReceipt = (path: string) => path.replace('/apps/', '/apps-without-receipt/');

/** The two have to differ in the receipt alone. */
async function expectReceipts(service: Service, app: string): Promise<void> {
  const send = (path: string, name: string) =>
    fetch(service.base + path, {
      method: 'PATCH',
      headers: {
        'x-api-key': service.key,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({ name }),
    });
  const answers = [await send(app, 'One'), await send(withoutReceipt(app), 'Two')];
  const bodies = await Promise.all(
    answers.map(async (answer) => (await answer.json()) as { app?: { name: string; version: number } }),
  );
  const seen = answers.map((answer, i) => [
    answer.status,
    answer.headers.has('x-operation-id'),
    bodies[i]!.app?.name,
    bodies[i]!.app?.version,
  ]);
  if (
    JSON.stringify(seen) !==
    JSON.stringify([
      [200, true, 'One', 2],
      [200, false, 'Two', 3],
    ])
  )
    throw new Error(`The routes do not differ in the receipt alone: ${JSON.stringify(seen)}`);
}
