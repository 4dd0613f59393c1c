/** Copies of each write at the same time over two apis, while processes are killed: one effect, and one answer for all copies. */
import type pg from 'pg';
import { newApp, newAppWith } from '../../bench/lib/apps.ts';
import { startDatabase } from '../../bench/lib/database.ts';
import { PLATFORM } from '../../bench/lib/http.ts';
import type { Caller } from '../../bench/lib/http.ts';
import { deliver, newWeather } from '../lib/delivery.ts';
import type { Delivered, Write } from '../lib/delivery.ts';
import { startFleet } from '../lib/fleet.ts';
import { inLanes } from '../lib/lanes.ts';
import { openTable, readLog, settled } from '../lib/log-table.ts';
import { counted } from '../lib/numbers.ts';
import type { Part, PartResult } from '../lib/part.ts';
import { startStorm } from '../lib/storm.ts';
import { changed, effectsOf, KINDS } from './kinds.ts';
import type { Ground, Kind } from './kinds.ts';

const COPIES = 8;
/** Keys at a time. A killed process's import is taken over when its lease is over: meanwhile the others go on. */
const LANES = 24;
const APPS = 8;
const THREADS = 8;

interface Key {
  kind: Kind;
  write: Write;
  answers: Delivered[];
}

interface Verdict {
  missing: number;
  doubled: number;
  different: number;
  failures: string[];
}

export const receiptsPart: Part = {
  name: 'receipts',
  title: 'No write happens twice, whatever is killed while it is sent again',
  seconds: 150,
  async run(setup) {
    const count = setup.count(2000, KINDS.length);
    const kills = setup.count(100, 3);
    const database = await startDatabase(setup.scratch);
    setup.atEnd(() => database.stop());
    const fleet = await startFleet(setup, database.url, { apis: 2, workers: 2 });
    const table = await openTable(setup, database.url);
    const ground = await makeGround(fleet.callers[0]!);
    await settled(table, setup.signal);
    const random = setup.random.fork('writes');
    const keys = Array.from({ length: count }, (_, n): Key => {
      const kind = KINDS[n % KINDS.length]!;
      const key = `torture-key-${n}`;
      return { kind, write: { ...kind.write(ground, random, key), key }, answers: [] };
    });
    const before = await groundRows(table);

    const weather = newWeather();
    const storm = startStorm(setup, fleet, { total: count, kills });
    const from = performance.now();
    await inLanes(LANES, keys, async (key, n) => {
      await storm.step();
      key.answers = await Promise.all(Array.from({ length: COPIES }, (_, copy) => deliver(fleet.callers, key.write, setup.random.fork(`copy ${n} ${copy}`), weather, setup.signal)));
    });
    const seconds = (performance.now() - from) / 1000;
    await storm.over;
    setup.say(`${count} keys in ${seconds.toFixed(0)} s; counting their effects`);
    await fleet.allUp();
    await settled(table, setup.signal);

    const verdict: Verdict = { missing: 0, doubled: 0, different: 0, failures: [] };
    for (const key of keys) judgeAnswers(key, verdict);
    await judgeEffects(table, keys, verdict);
    await judgeGround(table, keys, before, verdict);
    await judgeByApi(fleet.callers, keys, verdict);
    const refused = await sendChanged(fleet.callers, keys, verdict);
    const figures = {
      keys: count, copies: COPIES, kills, killedApis: storm.kills.api, killedWorkers: storm.kills.worker, unanswered: weather.unanswered, inProgress: weather.inProgress,
      missing: verdict.missing, doubled: verdict.doubled, different: verdict.different, changed: keys.length, changedRefused: refused, keysPerSecond: Math.round(count / seconds),
    };
    const line = `${counted(count)} keys of ${KINDS.length} kinds × ${COPIES} copies, ${kills} kill -9 (${storm.kills.api} api, ${storm.kills.worker} worker), ${weather.unanswered} answers lost, ${weather.inProgress} told to wait: `
      + `${verdict.doubled} effects twice, ${verdict.missing} missing, ${verdict.different} keys with differing answers; ${counted(keys.length)} changed payloads: ${counted(refused)} × 409 idempotency_conflict`;
    return { line, figures, failures: [...verdict.failures, ...weather.faults, ...fleet.deaths] } satisfies PartResult;
  },
};

async function makeGround(caller: Caller): Promise<Ground> {
  const { app: home, sourceId } = await newAppWith(caller, [{ path: 'README.md', content: 'An app.\n' }]);
  const ground: Ground = { apps: [], home, sourceId, threads: [] };
  for (let i = 0; i < APPS; i++) ground.apps.push(await newApp(caller, `ground ${i}`));
  for (let i = 0; i < THREADS; i++) ground.threads.push(`${home}/threads/${(await caller.call('POST', `${home}/threads`, { sourceId, title: `ground ${i}` })).body.thread.id as string}`);
  return ground;
}

const operationOf = ({ headers }: Delivered) => headers['x-operation-id'];
const isReplay = ({ headers }: Delivered) => headers['idempotent-replayed'] === 'true';

function note(verdict: Verdict, count: 'missing' | 'doubled' | 'different', failure: string): void {
  verdict[count]++;
  verdict.failures.push(failure);
}

/** All copies were told the same, byte for byte, and at most one of them as the first. */
function judgeAnswers({ kind, write, answers }: Key, verdict: Verdict): void {
  const [first] = answers;
  const what = `${write.key} (${kind.name})`;
  if (first!.status !== kind.status) note(verdict, 'different', `${what}: ${first!.status} ${first!.text.slice(0, 300)}`);
  const other = answers.find((a) => a.status !== first!.status || a.text !== first!.text || operationOf(a) !== operationOf(first!) || operationOf(a) === undefined);
  if (other) note(verdict, 'different', `${what}: ${first!.status} ${String(operationOf(first!))} ${first!.text} and ${other.status} ${String(operationOf(other))} ${other.text}`);
  const firsts = answers.filter((answer) => !isReplay(answer)).length;
  const isAnyLost = answers.some((answer) => answer.unanswered > 0);
  if (firsts > 1) note(verdict, 'doubled', `${what}: ${firsts} answers are not marked as replays`);
  if (firsts === 0 && !isAnyLost) note(verdict, 'different', `${what}: every answer is marked as a replay, and none was lost`);
}

/** Each key has one row, one receipt and one event. */
async function judgeEffects(table: pg.Client, keys: readonly Key[], verdict: Verdict): Promise<void> {
  const log = await readLog(table);
  const receipts = await receiptsByKey(table);
  const operations = countBy(log.flatMap(({ type, data }) => (type === 'operation.updated' && data.status !== 'pending' ? [String(data.id)] : [])));
  for (const kind of KINDS) {
    const effects = kind.rows === null ? null : await effectsOf(table, kind);
    const events = kind.event === null ? null : countBy(log.flatMap((event) => kind.event!(event) ?? []));
    for (const { write: { key, path }, answers: [answer] } of keys.filter((k) => k.kind === kind)) {
      const check = (what: string, count: number) => { if (count !== 1) note(verdict, count === 0 ? 'missing' : 'doubled', `${key} (${kind.name}): ${count} ${what}`); };
      const rows = effects?.get(key) ?? [];
      if (effects) check(`rows: ${rows.join(', ')}`, rows.length);
      if (events) check('events', events.get(effects ? rows[0]! : key) ?? 0);
      if (!path.startsWith(PLATFORM)) check('operation.updated', operations.get(String(operationOf(answer!))) ?? 0);
      check(`receipts that are ${String(operationOf(answer!))}`, (receipts.get(key) ?? []).filter((id) => id === operationOf(answer!)).length);
      check('receipts', (receipts.get(key) ?? []).length);
    }
  }
}

async function receiptsByKey(table: pg.Client): Promise<Map<string, string[]>> {
  const { rows } = await table.query<{ key: string; id: string }>("select idempotency_key as key, id from operations where idempotency_key like 'torture-key-%'");
  return new Map([...Map.groupBy(rows, ({ key }) => key)].map(([key, of]) => [key, of.map(({ id }) => id)]));
}

function countBy(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Changes of each row of the ground, by its path's last part. */
async function groundRows(table: pg.Client): Promise<Map<string, number>> {
  const { rows } = await table.query<{ id: string; changes: number }>("select id, version::float8 as changes from projects where kind = 'platform' union all select id, title_version::float8 from threads");
  return new Map(rows.map(({ id, changes }) => [id, changes]));
}

/** A row that several keys changed has as many changes as keys: each counts by one. */
async function judgeGround(table: pg.Client, keys: readonly Key[], before: ReadonlyMap<string, number>, verdict: Verdict): Promise<void> {
  const after = await groundRows(table);
  const targets = countBy(keys.filter(({ kind }) => kind.status === 200).map(({ write }) => write.path.split('/').at(-1)!));
  for (const [id, wanted] of targets) {
    const changes = after.get(id)! - before.get(id)!;
    if (changes !== wanted) note(verdict, changes > wanted ? 'doubled' : 'missing', `${id} was changed ${changes} times by ${wanted} keys`);
  }
}

/** What the API itself tells of every key's operation. */
async function judgeByApi(callers: readonly Caller[], keys: readonly Key[], verdict: Verdict): Promise<void> {
  await inLanes(LANES, keys, async ({ kind, write, answers: [answer] }, n) => {
    const { status, text } = await callers[n % callers.length]!.send('GET', `/api/operations/${String(operationOf(answer!))}`);
    const { operation } = (status === 200 ? JSON.parse(text) : {}) as { operation?: { idempotencyKey: string; status: string; responseStatus: number; response: unknown } };
    const expected = kind.status < 400 ? 'succeeded' : 'failed';
    if (operation?.idempotencyKey === write.key && operation.status === expected && operation.responseStatus === answer!.status) return;
    note(verdict, 'different', `${write.key} (${kind.name}): its operation is read as ${status} ${text.slice(0, 300)}`);
  });
}

/** Every key with another payload; returns how many got the right refusal. */
async function sendChanged(callers: readonly Caller[], keys: readonly Key[], verdict: Verdict): Promise<number> {
  let refused = 0;
  await inLanes(LANES, keys, async ({ kind, write }, n) => {
    const { method, path, body, key } = changed(write);
    const { status, text } = await callers[n % callers.length]!.send(method, path, { body, headers: { 'idempotency-key': key } });
    if (status === 409 && text.includes('"idempotency_conflict"')) refused++;
    else note(verdict, 'different', `${key} (${kind.name}) with another payload: ${status} ${text.slice(0, 300)}`);
  });
  return refused;
}
