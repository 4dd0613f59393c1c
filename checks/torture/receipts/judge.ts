/**
 * Whether each key had one effect and one answer: by the answers to the copies, the tables, the log and the
 * API.
 */
import type pg from 'pg';
import { PLATFORM } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import { inLanes } from '../../harness/lanes.ts';
import type { Delivered, Write } from '../lib/delivery.ts';
import { readLog } from '../lib/log-table.ts';
import { changed, effectsOf, KINDS } from './kinds.ts';
import type { Kind } from './kinds.ts';

/** Requests at a time. */
const LANES = 24;

export interface Key {
  kind: Kind;
  write: Write;
  answers: Delivered[];
}

export interface Verdict {
  missing: number;
  doubled: number;
  different: number;
  failures: string[];
}

export async function judge(
  table: pg.Client,
  callers: readonly Caller[],
  keys: readonly Key[],
  before: ReadonlyMap<string, number>,
): Promise<Verdict> {
  const verdict: Verdict = { missing: 0, doubled: 0, different: 0, failures: [] };
  for (const key of keys) judgeAnswers(key, verdict);
  await judgeEffects(table, keys, verdict);
  await judgeGround(table, keys, before, verdict);
  await judgeByApi(callers, keys, verdict);
  return verdict;
}

const operationOf = ({ headers }: Delivered) => headers['x-operation-id'];
const isReplay = ({ headers }: Delivered) => headers['idempotent-replayed'] === 'true';

function note(verdict: Verdict, count: 'missing' | 'doubled' | 'different', failure: string): void {
  verdict[count]++;
  verdict.failures.push(failure);
}

/** All copies got the same answer, byte for byte, and at most one of them as the first. */
function judgeAnswers({ kind, write, answers }: Key, verdict: Verdict): void {
  const [first] = answers;
  const what = `${write.key} (${kind.name})`;
  if (first!.status !== kind.status)
    note(verdict, 'different', `${what}: ${first!.status} ${first!.text.slice(0, 300)}`);
  const other = answers.find(
    (a) =>
      a.status !== first!.status ||
      a.text !== first!.text ||
      operationOf(a) !== operationOf(first!) ||
      operationOf(a) === undefined,
  );
  if (other)
    note(
      verdict,
      'different',
      `${what}: ${first!.status} ${String(operationOf(first!))} ${first!.text} and ${other.status} ${String(operationOf(other))} ${other.text}`,
    );
  const firsts = answers.filter((answer) => !isReplay(answer)).length;
  const isAnyLost = answers.some((answer) => answer.unanswered > 0);
  if (firsts > 1) note(verdict, 'doubled', `${what}: ${firsts} answers are not marked as replays`);
  if (firsts === 0 && !isAnyLost)
    note(verdict, 'different', `${what}: every answer is marked as a replay, and none was lost`);
}

/** Each key has one row, one receipt and one event. */
async function judgeEffects(table: pg.Client, keys: readonly Key[], verdict: Verdict): Promise<void> {
  const log = await readLog(table);
  const receipts = await receiptsByKey(table);
  const operations = countBy(
    log.flatMap(({ type, data }) =>
      type === 'operation.updated' && data.status !== 'pending' ? [String(data.id)] : [],
    ),
  );
  for (const kind of KINDS) {
    const effects = kind.rows === null ? null : await effectsOf(table, kind);
    const events = kind.event === null ? null : countBy(log.flatMap((event) => kind.event!(event) ?? []));
    for (const {
      write: { key, path },
      answers: [answer],
    } of keys.filter((k) => k.kind === kind)) {
      const check = (what: string, count: number) => {
        if (count !== 1)
          note(verdict, count === 0 ? 'missing' : 'doubled', `${key} (${kind.name}): ${count} ${what}`);
      };
      const rows = effects?.get(key) ?? [];
      if (effects) check(`rows: ${rows.join(', ')}`, rows.length);
      if (events) check('events', events.get(effects ? rows[0]! : key) ?? 0);
      if (!path.startsWith(PLATFORM))
        check('operation.updated', operations.get(String(operationOf(answer!))) ?? 0);
      check(
        `receipts that are ${String(operationOf(answer!))}`,
        (receipts.get(key) ?? []).filter((id) => id === operationOf(answer!)).length,
      );
      check('receipts', (receipts.get(key) ?? []).length);
    }
  }
}

async function receiptsByKey(table: pg.Client): Promise<Map<string, string[]>> {
  const { rows } = await table.query<{ key: string; id: string }>(
    "select idempotency_key as key, id from operations where idempotency_key like 'torture-key-%'",
  );
  return new Map([...Map.groupBy(rows, ({ key }) => key)].map(([key, of]) => [key, of.map(({ id }) => id)]));
}

function countBy(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Changes of each row of the ground, by its path's last part. */
export async function groundRows(table: pg.Client): Promise<Map<string, number>> {
  const { rows } = await table.query<{ id: string; changes: number }>(
    "select id, version::float8 as changes from projects where kind = 'platform' union all select id, title_version::float8 from threads",
  );
  return new Map(rows.map(({ id, changes }) => [id, changes]));
}

/** A row that several keys changed has as many changes as keys: each counts by one. */
async function judgeGround(
  table: pg.Client,
  keys: readonly Key[],
  before: ReadonlyMap<string, number>,
  verdict: Verdict,
): Promise<void> {
  const after = await groundRows(table);
  const targets = countBy(
    keys.filter(({ kind }) => kind.status === 200).map(({ write }) => write.path.split('/').at(-1)!),
  );
  for (const [id, wanted] of targets) {
    const changes = after.get(id)! - before.get(id)!;
    if (changes !== wanted)
      note(
        verdict,
        changes > wanted ? 'doubled' : 'missing',
        `${id} was changed ${changes} times by ${wanted} keys`,
      );
  }
}

/** What the API itself says of every key's operation. */
async function judgeByApi(callers: readonly Caller[], keys: readonly Key[], verdict: Verdict): Promise<void> {
  await inLanes(LANES, keys, async ({ kind, write, answers: [answer] }, n) => {
    const { status, text } = await callers[n % callers.length]!.send(
      'GET',
      `/api/operations/${String(operationOf(answer!))}`,
    );
    const { operation } = (status === 200 ? JSON.parse(text) : {}) as {
      operation?: { idempotencyKey: string; status: string; responseStatus: number; response: unknown };
    };
    const expected = kind.status < 400 ? 'succeeded' : 'failed';
    if (
      operation?.idempotencyKey === write.key &&
      operation.status === expected &&
      operation.responseStatus === answer!.status
    )
      return;
    note(
      verdict,
      'different',
      `${write.key} (${kind.name}): its operation is read as ${status} ${text.slice(0, 300)}`,
    );
  });
}

/** Every key with another payload; returns how many got the right refusal. */
export async function sendChanged(
  callers: readonly Caller[],
  keys: readonly Key[],
  verdict: Verdict,
): Promise<number> {
  let refused = 0;
  await inLanes(LANES, keys, async ({ kind, write }, n) => {
    const { method, path, body, key } = changed(write);
    const { status, text } = await callers[n % callers.length]!.send(method, path, {
      body,
      headers: { 'idempotency-key': key },
    });
    if (status === 409 && text.includes('"idempotency_conflict"')) refused++;
    else
      note(
        verdict,
        'different',
        `${key} (${kind.name}) with another payload: ${status} ${text.slice(0, 300)}`,
      );
  });
  return refused;
}
