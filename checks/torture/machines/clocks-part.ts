/**
 * The clocks of the machines up to two minutes apart: the messages of a thread come in by both APIs in turns, and are done by
 * either worker. Runs begin in the order of their messages, and lists have all in the order in which they were made.
 *
 * Seen to fail: ids with the time of the process instead of the database's (runs are listed by API).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import type { Part } from '../lib/part.ts';
import { sharedLab } from './lab.ts';

const SKEW_MS = 60_000;
/** Of a clock's own look at its offset. */
const TAKEN_MS = 500;
const MESSAGES = 6;
const END_LIMIT_MS = 240_000;

interface Listed {
  id: string;
  status: string;
  createdAt: string;
  startedAt: string | null;
}

export const clocksPart: Part = {
  name: 'clocks',
  title: 'Runs and lists are in order where the clocks of machines are two minutes apart',
  seconds: 200,
  async run(setup) {
    const lab = await sharedLab(setup);
    for (const role of lab.roles) role.setClock([-SKEW_MS, SKEW_MS, 0][role.machine - 1]!);
    setup.atEnd(() => {
      for (const role of lab.roles) role.setClock(0);
    });
    await sleep(TAKEN_MS);
    const { app, sourceId } = await newAppWith(lab.caller, [{ path: 'a.txt', content: 'a\n' }]);
    const failures: string[] = [];
    const threads = setup.count(20, 2);
    const made: string[] = [];
    let runs = 0;
    for (let n = 0; n < threads && !setup.signal.aborted; n++) {
      const thread = await newReadyThread(lab.caller, app, sourceId);
      made.push(thread.split('/').at(-1)!);
      const sent: string[] = [];
      for (let i = 0; i < MESSAGES; i++) {
        const { body } = await lab.apis[i % lab.apis.length]!.call('POST', `${thread}/messages`, {
          content: `\`\`\`sh\necho ${i} >> order.txt\n\`\`\``,
        });
        sent.push(body.run.id as string);
      }
      const deadline = Date.now() + END_LIMIT_MS;
      let last;
      do {
        ({ run: last } = (
          await lab.caller.call('GET', `${thread}/runs/${sent.at(-1)!}?waitSeconds=20`)
        ).body);
      } while (last.finishedAt === null && Date.now() < deadline && !setup.signal.aborted);
      runs += sent.length;
      if (last.status !== 'completed') {
        failures.push(`${thread}: the last run is ${last.status} with ${last.error?.code}`);
        continue;
      }
      const { file } = (
        await lab.caller.call('GET', `${app}/sources/${last.resultSourceId}/file?path=order.txt`)
      ).body;
      const order = (file.content as string).split('\n').filter(Boolean).map(Number);
      if (order.join() !== sent.map((_, i) => i).join())
        failures.push(`${thread}: the runs worked as ${order.join()}`);
      const listed = (await lab.caller.call('GET', `${thread}/runs?limit=50`)).body.runs as Listed[];
      const ids = listed.map(({ id }) => id);
      if (![sent.join(), sent.toReversed().join()].includes(ids.join()))
        failures.push(`${thread}: the runs are listed as ${ids.map((id) => sent.indexOf(id)).join()}`);
      setup.say(`${n + 1} threads, ${runs} runs; ${failures.length} promises broken`);
    }
    const { threads: list } = (await lab.caller.call('GET', `${app}/threads?limit=100`)).body;
    const ids = (list as { id: string }[]).map(({ id }) => id);
    if (![made.join(), made.toReversed().join()].includes(ids.join()))
      failures.push(`the threads are listed as ${ids.map((id) => made.indexOf(id)).join()}`);
    return {
      line: `${runs} runs of ${made.length} threads, sent through APIs whose clocks were two minutes apart: in order, and so are the lists; ${failures.length} promises broken`,
      figures: { threads: made.length, runs, failures: failures.length },
      failures,
    };
  },
};
