/** Records of an app that no service may leave, each with the fault that is found. */
import { expect, test } from 'vitest';
import type { LoggedEvent } from '../lib/log-table.ts';
import { plansOf } from './drafts.ts';
import type { ApplyRecord } from './evidence.ts';
import { judgeRecords } from './records.ts';
import type { AppRecords } from './records.ts';
import type { TortureApp } from './world.ts';

const APP = 'prj_1';
/**
 * The first two are the early ones; then a draft of a separate file, one of a shared line and a pinned one.
 */
const KINDS = ['own', 'shared', 'pinned'] as const;

function story(): { app: TortureApp; records: AppRecords } {
  const app: TortureApp = { path: '/apps/prj_1', id: APP, drafts: [], early: ['src_0', 'src_1', 'src_2'] };
  const records: AppRecords = {
    applies: [],
    heads: [
      {
        projectId: APP,
        revision: 1,
        sourceId: 'src_0',
        applyId: null,
        origin: 'import',
        parents: [],
        sha256: '',
      },
    ],
    log: [],
  };
  tell(records, 'platform.head.updated', { revision: 1, sourceId: 'src_0' });
  for (let n = 1; n <= 2 + KINDS.length; n++) {
    const kind = KINDS[n - 3];
    const [id, threadId, draft, head, result] = [
      `apl_${n}`,
      `thr_${n}`,
      `drf_${n}`,
      `src_${n - 1}`,
      `src_${n}`,
    ];
    if (kind)
      app.drafts.push({
        ...plansOf(1)[0]!,
        number: n,
        kind,
        app,
        thread: `/threads/${threadId}`,
        sourceId: draft,
        accepted: [id],
      });
    records.applies.push({
      id,
      projectId: APP,
      threadId,
      sequence: n,
      status: 'applied',
      base: 'src_0',
      draft,
      head,
      result,
      expectedHead: kind === 'pinned' ? head : null,
      conflicts: [],
      error: null,
      repairs: 0,
      sealed: true,
      archived: false,
      latest: draft,
      active: null,
    });
    records.heads.push({
      projectId: APP,
      revision: n + 1,
      sourceId: result,
      applyId: id,
      origin: 'apply',
      parents: [head, draft],
      sha256: '',
    });
    tell(records, 'platform.apply.queued', { id, status: 'queued', sourceId: null });
    tell(records, 'platform.apply.applied', { id, status: 'applied', sourceId: result });
    tell(records, 'platform.head.updated', { revision: n + 1, sourceId: result });
  }
  return { app, records };
}

function tell({ log }: AppRecords, type: string, data: Record<string, unknown>): void {
  log.push({
    sequence: log.length,
    id: `evt_${log.length}`,
    feed: 'platform',
    type,
    projectId: APP,
    threadId: null,
    runId: null,
    data,
  } satisfies LoggedEvent);
}

const last = ({ applies }: AppRecords): ApplyRecord => applies.at(-1)!;

const FAULTS: [name: string, plant: (records: AppRecords, app: TortureApp) => void, told: RegExp][] = [
  [
    'an apply moves the head twice',
    ({ heads }) => {
      heads.push({ ...heads.at(-1)!, revision: 7, sourceId: 'src_6' });
    },
    /apl_5 moved the head twice: revisions 6 and 7/,
  ],
  [
    'a revision is left out',
    ({ heads }) => {
      heads.splice(3, 1);
    },
    /revision 5 of prj_1 stands at place 4/,
  ],
  [
    'an apply is applied without a head',
    ({ heads }) => {
      heads.pop();
    },
    /apl_5 is applied, and no head is of it/,
  ],
  [
    'an apply was merged with an older head',
    (records) => {
      records.applies[3]!.head = 'src_1';
    },
    /apl_4 was merged with src_1, and the head before it is src_3/,
  ],
  [
    'a decision for another head is applied',
    (records) => {
      last(records).expectedHead = 'src_2';
    },
    /apl_5 was decided for src_2, and applied on src_4/,
  ],
  [
    'a head lacks a parent',
    ({ heads }) => {
      heads[4]!.parents = ['src_3'];
    },
    /src_4 \(apply\) has the parents src_3, not src_3, drf_4/,
  ],
  [
    'an apply is lost',
    ({ applies }) => {
      applies.splice(3, 1);
    },
    /accepted were apl_4, there are none/,
  ],
  [
    'an apply is made twice',
    ({ applies }) => {
      applies.push({ ...applies[2]!, id: 'apl_9' });
    },
    /accepted were apl_3, there are apl_3, apl_9/,
  ],
  [
    'an apply fails that cannot',
    ({ applies }) => {
      Object.assign(applies[2]!, { status: 'failed', error: 'source_unavailable: away' });
    },
    /apl_3 \(own\) ended failed/,
  ],
  [
    'applied, and its thread is open',
    (records) => {
      last(records).sealed = false;
    },
    /the thread of apl_5 .*"sealed":false/,
  ],
  [
    'an apply is told twice',
    (records) => {
      tell(records, 'platform.apply.applied', { id: 'apl_5', status: 'applied', sourceId: 'src_5' });
    },
    /apl_5 is told by .*applied.*applied/,
  ],
  [
    'a head is not told',
    ({ log }) => {
      log.splice(
        log.findLastIndex(({ type }) => type === 'platform.head.updated'),
        1,
      );
    },
    /the heads are told as/,
  ],
  [
    'a head is told before its apply',
    ({ log }) => {
      const [applied] = log.splice(-2, 1);
      log.push(applied!);
    },
    /the head src_5 is told without its apply/,
  ],
  [
    'an apply goes before an earlier one',
    ({ applies }) => {
      [applies[2]!.sequence, applies[3]!.sequence] = [4, 3];
    },
    /apl_4, number 3, ended after apl_3, number 4/,
  ],
];

test('all is well', () => {
  const { app, records } = story();
  expect(judgeRecords(app, records)).toEqual([]);
});

test.each(FAULTS)('%s', (_, plant, told) => {
  const { app, records } = story();
  plant(records, app);
  expect(judgeRecords(app, records).join('\n')).toMatch(told);
});
