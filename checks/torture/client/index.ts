/**
 * The client's writes, with connections that are cut at each byte and a service that is killed: each has one effect,
 * and its caller gets the right answer, in another process if its own was killed.
 *
 * Seen to fail: an operation whose later writes get a new key each time (of 32 operations, sources twice in 2 and a second
 * initialization of the head refused in 4).
 */
import { startFleet } from '../lib/fleet.ts';
import { openTable, settled } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part } from '../lib/part.ts';
import { cutEverywhere } from './cuts.ts';
import { judge } from './judge.ts';
import { writeOverKills, WRITES_EACH } from './kills.ts';

export const clientPart: Part = {
  name: 'client',
  title: 'The client does each write once, despite cut connections, killed services and killed callers',
  seconds: 300,
  async run(setup) {
    const fleet = await startFleet(setup, { apis: 2, workers: 1 });
    const cuts = await cutEverywhere(setup, fleet);
    setup.say('killing');
    const done = await writeOverKills(setup, fleet);
    setup.say('counting effects');
    await fleet.allUp();
    const table = await openTable(setup, fleet.database.url);
    await settled(table, setup.signal);
    const verdict = await judge(table, [...cuts.written, ...done.written]);
    const writes = done.written.length * WRITES_EACH;
    return {
      line:
        `${counted(cuts.calls)} calls cut at ${counted(cuts.bytes)} bytes of request and answer; ${counted(writes)} writes, ${done.kills} kill -9 of the service, ${done.callers} of callers, ${counted(done.resumed)} operations resumed: ` +
        `${verdict.missing} effects missing, ${verdict.doubled} doubled, ${cuts.wrong + verdict.different} wrong answers`,
      figures: {
        cutCalls: cuts.calls,
        cutBytes: cuts.bytes,
        writes,
        kills: done.kills,
        killedCallers: done.callers,
        resumed: done.resumed,
        missing: verdict.missing,
        doubled: verdict.doubled,
        wrong: cuts.wrong + verdict.different,
      },
      failures: [...cuts.failures, ...done.failures, ...verdict.failures, ...fleet.deaths],
    };
  },
};
