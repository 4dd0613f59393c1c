import { expect, test } from 'vitest';
import { decide } from './need-setup.ts';
import type { OfKey } from './store.ts';

const HOST = 'runner_a';
let count = 0;
const record = (status: OfKey['status'], change: Partial<OfKey> = {}): OfKey => ({
  id: `set_${++count}`,
  status,
  runner_id: status === 'queued' ? null : `${HOST}:7`,
  layer_gone_at: null,
  is_recent: status === 'ready' || status === 'failed',
  is_short_lived: false,
  ...change,
});
const gone = (change: Partial<OfKey> = {}) =>
  record('ready', { layer_gone_at: new Date(), is_short_lived: true, ...change });
const long = { is_recent: false };

const [ready, failed, queued, running] = [
  record('ready'),
  record('failed'),
  record('queued'),
  record('running'),
];
const atOther = { runner_id: 'runner_b:7' };
const elsewhere = record('ready', atOther);
const last = gone();

test.each<[string, OfKey[], string | null]>([
  ['none at all', [], null],
  ['a layer here', [ready], `ready ${ready.id}`],
  ['the newest layer', [ready, record('ready')], `ready ${ready.id}`],
  ['one under way beside a layer', [running, ready], `ready ${ready.id}`],
  ['a failure after a layer', [failed, ready], `ready ${ready.id}`],
  ['one that is queued', [queued], `under way ${queued.id}`],
  ['one that runs, after a failure', [running, failed], `under way ${running.id}`],
  ['a failure', [failed], `failed ${failed.id}`],
  ['a failure long ago', [record('failed', { is_recent: false })], null],
  ['a lost layer', [gone()], null],
  ['a lost layer after a failure', [gone(), failed], null],
  ['a layer at another machine', [elsewhere], null],
  ['four lost layers', [gone(), gone(), gone(), gone()], null],
  ['five lost layers', [last, gone(), gone(), gone(), gone()], `lost ${last.id}`],
  ['slow ones, four of them long ago', [last, ...[1, 2, 3, 4].map(() => gone(long))], `lost ${last.id}`],
  ['five, the last of them long ago', [1, 2, 3, 4, 5].map(() => gone(long)), null],
  [
    'five, of which one was kept for long',
    [last, gone(), gone({ is_short_lived: false }), gone(), gone()],
    null,
  ],
  ['layers that five other machines keep', [1, 2, 3, 4, 5].map(() => record('ready', atOther)), null],
  ['five layers that another machine lost', [1, 2, 3, 4, 5].map(() => gone(atOther)), null],
  ['one under way with an older id', [failed, running], `under way ${running.id}`],
])('%s', (_what, records, expected) => {
  const found = decide(records, HOST);
  expect(found && `${found.kind} ${'setupId' in found ? found.setupId : ''}`).toBe(expected);
});
