import { PROTOCOL_RANGE } from '@headrace/runner/registration';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { transaction } from '../db/transaction.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import {
  drawCandidates,
  freePlace,
  hasUsableRunner,
  judgeSilent,
  keepPlaceAt,
  recordLeaving,
  recordReports,
  recountPlaces,
  takePlaceAt,
} from './store.ts';
import type { Report } from './store.ts';

let s: TestServer;
beforeAll(async () => {
  s = await startTestServer({ HEADRACE_ROLES: 'api' });
});
afterAll(async () => {
  await s?.close();
});
const db = () => s.service.ctx.db;
beforeEach(async () => {
  await sql`truncate runners, runner_places`.execute(db());
});

const idOf = (name: string) => `rnr_${name.padEnd(26, '0')}`;
const report = (name: string, given: Partial<Report> = {}): Report => ({
  bootId: idOf(name),
  name,
  address: `${name}.test:4403`,
  pool: 'default',
  protocol: [...PROTOCOL_RANGE],
  capacity: 2,
  isDraining: false,
  status: {
    id: idOf(name),
    pid: 7,
    driver: 'bubblewrap',
    ok: true,
    missing: [],
    limits: { memory: 'cgroup', processes: 'cgroup', cpu: 'cgroup', warnings: [] },
    load: { memoryBytes: 1000, freeBytes: 750, sandboxes: 0 },
  },
  tasks: [],
  workspaces: [],
  groups: [],
  ...given,
});
const stateOf = async (name: string) =>
  (await db().selectFrom('runners').select('state').where('boot_id', '=', idOf(name)).executeTakeFirst())
    ?.state;
const reservedOf = async (name: string) =>
  (await db().selectFrom('runners').select('reserved').where('boot_id', '=', idOf(name)).executeTakeFirst())
    ?.reserved;
const silence = (name: string, seconds: number) =>
  sql`update runners set last_seen_at = now() - ${seconds} * interval '1 second' where boot_id = ${idOf(name)}`.execute(
    db(),
  );
/** By the server that this process has watched. */
const judge = async () => judgeSilent(db(), s.service.ctx.bus.seenServer()!.identity);
/** Three at most, drawn at random. */
const draw = (holder = 'thread:new') => drawCandidates(db(), { holder, pool: 'default', projectId: 'prj_1' });
const placeOf = async (holder: string) =>
  (await db().selectFrom('runner_places').select('boot_id').where('holder', '=', holder).executeTakeFirst())
    ?.boot_id;
const free = (holder: string) => transaction(s.service.ctx, (tx) => freePlace(tx, holder));

test('silence makes a runner suspect, lost, then gone; a report before that makes it ready', async () => {
  await recordReports(db(), [report('a'), report('b')]);
  expect(await judge()).toEqual([]);
  const steps: [number, string][] = [
    [11, 'suspect'],
    [31, 'lost'],
    [209, 'lost'],
  ];
  for (const [seconds, state] of steps) {
    await silence('a', seconds);
    await judge();
    expect(await stateOf('a')).toBe(state);
  }
  expect(await recordReports(db(), [report('a')])).toEqual(new Set());
  expect(await stateOf('a')).toBe('ready');
  await silence('a', 211);
  // Another server than the one that was watched: a standby that was promoted.
  expect(await judgeSilent(db(), 'another')).toEqual([]);
  expect(await judge()).toEqual([{ boot_id: idOf('a'), name: 'a', state: 'gone' }]);
  expect(await judge()).toEqual([]);
  expect(await recordReports(db(), [report('a'), report('b')])).toEqual(new Set([idOf('a')]));
  expect(await stateOf('a')).toBe('gone');
  expect(await stateOf('b')).toBe('ready');
  await recordLeaving(db(), idOf('b'));
  expect(await stateOf('b')).toBe('gone');
});

test('one that is started at the address of another makes that one lost', async () => {
  await recordReports(db(), [report('old', { address: 'n:1' }), report('far')]);
  await recordReports(db(), [report('new', { address: 'n:1' })]);
  expect([await stateOf('old'), await stateOf('new'), await stateOf('far')]).toEqual([
    'lost',
    'ready',
    'ready',
  ]);
  await recordReports(db(), [report('new', { address: 'n:1' })]);
  expect(await stateOf('old')).toBe('lost');
});

test('takes new work: one that reports, has sandboxes and a known version, and does not drain', async () => {
  const { status } = report('a');
  const reports: Record<string, Partial<Report>> = {
    usable: {},
    newer: { protocol: [PROTOCOL_RANGE[1], PROTOCOL_RANGE[1] + 1] },
    draining: { isDraining: true },
    broken: { status: { ...status, ok: false } },
    foreign: { protocol: [PROTOCOL_RANGE[1] + 1, PROTOCOL_RANGE[1] + 2] },
    elsewhere: { pool: 'other' },
    silent: {},
  };
  await recordReports(
    db(),
    Object.entries(reports).map(([name, given]) => report(name, given)),
  );
  await silence('silent', 11);
  const candidates = await draw();
  expect(candidates.map((one) => one.boot_id).toSorted()).toEqual([idOf('newer'), idOf('usable')]);
  expect(candidates[0]).toMatchObject({ capacity: 2, reserved: 0, used: 0.25, keeps: false, holds: false });
  for (const name of ['draining', 'broken', 'foreign', 'silent'])
    expect([name, await takePlaceAt(db(), `thread:${name}`, idOf(name))]).toEqual([name, false]);
  expect(await hasUsableRunner(db(), 'default')).toBe(true);
  expect(await hasUsableRunner(db(), 'third')).toBe(false);
});

test('keeps files of a project: that is what its last report says', async () => {
  await recordReports(db(), [report('a', { groups: ['prj_1', 'prj_2'] }), report('b')]);
  const keepers = async () => (await draw()).filter((one) => one.keeps).map((one) => one.boot_id);
  expect(await keepers()).toEqual([idOf('a')]);
  await recordReports(db(), [report('a', { groups: ['prj_2'] })]);
  expect(await keepers()).toEqual([]);
});

test('three are drawn of those with room: first where the work is, then those that keep the project and are not crowded', async () => {
  const others = Array.from({ length: 8 }, (_, i) => report(`other${i}`, { capacity: 10 }));
  const keeps = { capacity: 10, groups: ['prj_1'] };
  await recordReports(db(), [
    ...others,
    report('warm', keeps),
    report('crowded', keeps),
    report('full', { ...keeps, capacity: 1 }),
    report('held', { capacity: 1 }),
  ]);
  await sql`update runners set reserved = 8 where name = 'crowded'`.execute(db());
  await takePlaceAt(db(), 'build:1', idOf('full'));
  await takePlaceAt(db(), 'thread:held', idOf('held'));
  const drawn = new Set<string>();
  for (let n = 0; n < 100; n++) {
    const [first, ...rest] = (await draw()).map((one) => one.boot_id);
    expect([first, rest.length]).toEqual([idOf('warm'), 2]);
    for (const id of rest) drawn.add(id);
  }
  expect([...drawn].toSorted()).toEqual([...others.map((one) => one.bootId), idOf('crowded')].toSorted());
  const [first, second] = await draw('thread:held');
  expect([first!.boot_id, first!.holds, second!.boot_id]).toEqual([idOf('held'), true, idOf('warm')]);
});

test('work that has its place at a runner takes no second one there, and one elsewhere in its stead', async () => {
  await recordReports(db(), [report('a', { capacity: 2 }), report('b')]);
  for (let n = 0; n < 3; n++) expect(await takePlaceAt(db(), 'thread:1', idOf('a'))).toBe(true);
  expect(await reservedOf('a')).toBe(1);
  expect(await takePlaceAt(db(), 'thread:2', idOf('a'))).toBe(true);
  expect(await takePlaceAt(db(), 'thread:3', idOf('a'))).toBe(false);
  // At one that is full it has what it has.
  expect(await takePlaceAt(db(), 'thread:1', idOf('a'))).toBe(true);
  expect(await takePlaceAt(db(), 'thread:1', idOf('b'))).toBe(true);
  expect(await placeOf('thread:1')).toBe(idOf('b'));
  await transaction(s.service.ctx, recountPlaces);
  expect([await reservedOf('a'), await reservedOf('b')]).toEqual([1, 1]);
  await silence('b', 11);
  expect(await takePlaceAt(db(), 'thread:1', idOf('b'))).toBe(false);
});

test('no more places are given than there are, however many ask at once', async () => {
  await recordReports(db(), [report('a', { capacity: 3 })]);
  const taken = await Promise.all(
    Array.from({ length: 12 }, (_, i) => takePlaceAt(db(), `build:${i}`, idOf('a'))),
  );
  expect(taken.filter(Boolean)).toHaveLength(3);
  expect(await reservedOf('a')).toBe(3);
  const held = taken.indexOf(true);
  expect(await placeOf(`build:${held}`)).toBe(idOf('a'));
  await free(`build:${held}`);
  await free(`build:${held}`);
  expect(await reservedOf('a')).toBe(2);
  expect(await placeOf(`build:${held}`)).toBeUndefined();
});

test('what has begun keeps its place where it is, even if that is one too many', async () => {
  await recordReports(db(), [report('a', { capacity: 1 })]);
  await takePlaceAt(db(), 'thread:1', idOf('a'));
  await keepPlaceAt(db(), 'thread:2', idOf('a'));
  await keepPlaceAt(db(), 'thread:2', idOf('a'));
  expect(await reservedOf('a')).toBe(2);
});

test('places of work without a job are freed, and all are counted again', async () => {
  await recordReports(db(), [report('a', { capacity: 9 })]);
  for (const holder of ['thread:gone', 'thread:young', 'thread:held'])
    await takePlaceAt(db(), holder, idOf('a'));
  await sql`update runner_places set taken_at = now() - interval '1 minute' where holder <> 'thread:young'`.execute(
    db(),
  );
  await sql`insert into jobs (kind, key, payload, run_at) values ('nothing', 'thread:held', '{}', 'infinity')`.execute(
    db(),
  );
  await sql`update runners set reserved = 7`.execute(db());
  await transaction(s.service.ctx, recountPlaces);
  expect(await reservedOf('a')).toBe(2);
  expect(await placeOf('thread:gone')).toBeUndefined();
  await sql`delete from jobs where kind = 'nothing'`.execute(db());
});

test('a place that gets free makes the first waiting job due', async () => {
  await recordReports(db(), [report('a')]);
  await takePlaceAt(db(), 'thread:1', idOf('a'));
  await sql`insert into jobs (kind, key, payload, run_at, waits_for) select 'nothing', 'thread:w' || n, '{}', now() + interval '1 hour', 'runners' from generate_series(1, 2) n`.execute(
    db(),
  );
  await free('thread:1');
  const jobs = await sql<{
    due: boolean;
  }>`select run_at <= now() as due from jobs where kind = 'nothing' order by id`.execute(db());
  expect(jobs.rows.map((job) => job.due)).toEqual([true, false]);
  await sql`delete from jobs where kind = 'nothing'`.execute(db());
});
