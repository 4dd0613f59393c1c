/**
 * Whether the rows and the log of an app agree: each accepted apply ended once, and each moved head is of one
 * apply.
 */
import type { LoggedEvent } from '../lib/log-table.ts';
import { EARLY } from './drafts.ts';
import type { ApplyRecord, Evidence, HeadRecord } from './evidence.ts';
import type { Draft, TortureApp } from './world.ts';

export interface AppRecords {
  applies: ApplyRecord[];
  heads: HeadRecord[];
  log: LoggedEvent[];
}

export const recordsOf = ({ id }: TortureApp, { applies, heads, log }: Evidence): AppRecords => ({
  applies: applies.filter((apply) => apply.projectId === id),
  heads: heads.filter((head) => head.projectId === id),
  log: log.filter((event) => event.projectId === id),
});

/** What is wrong; nothing when all is well. */
export function judgeRecords(app: TortureApp, records: AppRecords): string[] {
  return [
    ...judgeAccepted(app, records),
    ...judgeHeads(records),
    ...judgeThreads(app, records),
    ...judgeLog(records),
  ];
}

const threadId = ({ thread }: Draft) => thread.slice(thread.lastIndexOf('/') + 1);
export const draftOf = (app: TortureApp, apply: ApplyRecord): Draft | undefined =>
  app.drafts.find((draft) => threadId(draft) === apply.threadId);

/** What clients were answered is what there is, no more and no less, and has ended as it had to. */
function judgeAccepted(app: TortureApp, { applies }: AppRecords): string[] {
  const faults: string[] = [];
  for (const draft of app.drafts) {
    const made = applies.filter((apply) => apply.threadId === threadId(draft));
    const [ids, accepted] = [made.map(({ id }) => id), draft.accepted];
    if (ids.length !== accepted.length || accepted.some((id) => !ids.includes(id)))
      faults.push(
        `${draft.kind} ${draft.thread}: accepted were ${accepted.join(', ') || 'none'}, there are ${ids.join(', ') || 'none'}`,
      );
    for (const apply of made)
      if (apply.draft !== draft.sourceId)
        faults.push(`${apply.id} is of ${apply.draft}, not of its draft ${draft.sourceId}`);
    const last = made.at(-1);
    if (last && !mayEnd(draft, last))
      faults.push(
        `${last.id} (${draft.kind}) ended ${last.status} ${last.conflicts.join(', ')} ${last.error ?? ''}`,
      );
    for (const apply of made.slice(0, -1))
      if (!isStale(apply))
        faults.push(
          `${apply.id} (${draft.kind}) ended ${apply.status} ${apply.error ?? ''}, and was decided anew`,
        );
  }
  const early = applies.filter((apply) => !draftOf(app, apply));
  if (early.length !== EARLY.length) faults.push(`${app.path} has ${early.length} applies of no draft`);
  return faults;
}

export const isStale = ({ status, error }: ApplyRecord) =>
  status === 'conflicted' && error?.startsWith('stale_head: ') === true;

/** Clashes and collisions end as the model says: see content.ts. */
function mayEnd({ kind }: Draft, { status, error }: ApplyRecord): boolean {
  if (kind === 'archived')
    return status === 'applied' || (status === 'failed' && error?.startsWith('cancelled: ') === true);
  if (kind === 'clash' || kind === 'collide')
    return status === 'applied' || (status === 'conflicted' && error === null);
  return status === 'applied';
}

/** Revisions without a gap, each moved by the apply that says so, from the head before it. */
function judgeHeads({ applies, heads }: AppRecords): string[] {
  const faults: string[] = [];
  const moved = new Map<string, number>();
  for (const [i, head] of heads.entries()) {
    const what = `revision ${head.revision} of ${head.projectId}`;
    if (head.revision !== i + 1) faults.push(`${what} stands at place ${i + 1}`);
    if (i === 0) continue;
    const apply = applies.find(({ id }) => id === head.applyId);
    const before = heads[i - 1]!.sourceId;
    if (!apply) {
      faults.push(`${what} is of no apply: ${String(head.applyId)}`);
      continue;
    }
    if (moved.has(apply.id))
      faults.push(`${apply.id} moved the head twice: revisions ${moved.get(apply.id)} and ${head.revision}`);
    moved.set(apply.id, head.revision);
    if (apply.status !== 'applied' || apply.result !== head.sourceId)
      faults.push(
        `${what} is ${head.sourceId}; its apply ${apply.id} is ${apply.status} with ${String(apply.result)}`,
      );
    if (apply.head !== before)
      faults.push(`${apply.id} was merged with ${String(apply.head)}, and the head before it is ${before}`);
    if (apply.expectedHead !== null && apply.expectedHead !== before)
      faults.push(`${apply.id} was decided for ${apply.expectedHead}, and applied on ${before}`);
    const isMade = head.sourceId !== before && head.sourceId !== apply.draft;
    if (isMade && (head.origin !== 'apply' || head.parents.join() !== [before, apply.draft].join()))
      faults.push(
        `${head.sourceId} (${head.origin}) has the parents ${head.parents.join(', ')}, not ${before}, ${apply.draft}`,
      );
    if (head.sourceId === apply.draft && apply.base !== before)
      faults.push(`${what} is the draft ${apply.draft} of ${String(apply.base)}, and the head was ${before}`);
  }
  for (const { id, status } of applies)
    if (status === 'applied' && !moved.has(id)) faults.push(`${id} is applied, and no head is of it`);
  return faults;
}

function judgeThreads(app: TortureApp, { applies }: AppRecords): string[] {
  return applies.flatMap((apply) => {
    const draft = draftOf(app, apply);
    if (!draft || apply.id !== draft.accepted.at(-1)) return [];
    const wanted = {
      sealed: apply.status === 'applied',
      archived: draft.kind === 'archived',
      latest: draft.sourceId,
      active: null,
    };
    const found = {
      sealed: apply.sealed,
      archived: apply.archived,
      latest: apply.latest,
      active: apply.active,
    };
    return JSON.stringify(found) === JSON.stringify(wanted)
      ? []
      : [`the thread of ${apply.id} (${draft.kind}, ${apply.status}) is ${JSON.stringify(found)}`];
  });
}

const TERMINAL = ['platform.apply.applied', 'platform.apply.conflicted', 'platform.apply.failed'];

/** Each change of state is in the log once, heads and ends in the order of the queue. */
function judgeLog({ applies, heads, log }: AppRecords): string[] {
  const faults: string[] = [];
  for (const { id, status, result } of applies) {
    const own = log.filter(({ type, data }) => type.startsWith('platform.apply.') && data.id === id);
    const said = own.map(({ type, data }) => `${type} ${String(data.status)} ${String(data.sourceId)}`);
    const wanted = [
      `platform.apply.queued queued null`,
      `platform.apply.${status} ${status} ${String(result)}`,
    ];
    if (said.join() !== wanted.join()) faults.push(`${id} is told by ${said.join(', ')}`);
  }
  const told = log
    .filter(({ type }) => type === 'platform.head.updated')
    .map(({ data }) => `${String(data.revision)} ${String(data.sourceId)}`);
  if (told.join() !== heads.map(({ revision, sourceId }) => `${revision} ${sourceId}`).join())
    faults.push(`the heads are told as ${told.join(', ')}`);
  const ends = log
    .filter(({ type }) => TERMINAL.includes(type))
    .map(({ data }) => applies.find(({ id }) => id === data.id)!)
    .filter(Boolean);
  return [...faults, ...judgeMoves(log), ...judgeOrder(ends), ...judgeVerdicts(applies, log)];
}

/** One transaction publishes the end of an apply and its head: nothing of the kind comes between. */
function judgeMoves(log: readonly LoggedEvent[]): string[] {
  const moves = log.filter(
    ({ type }) => type === 'platform.apply.applied' || type === 'platform.head.updated',
  );
  return moves.flatMap(({ type, data }, i) => {
    const before = moves[i - 1];
    const isTold = before?.type === 'platform.apply.applied' && before.data.sourceId === data.sourceId;
    return type === 'platform.head.updated' && data.revision !== 1 && !isTold
      ? [`the head ${String(data.sourceId)} is told without its apply`]
      : [];
  });
}

/**
 * One after the other as they were accepted, but for those that gave their turn away to a repair, or were
 * cancelled out of it.
 */
function judgeOrder(ends: readonly ApplyRecord[]): string[] {
  const inTurn = ends.filter(({ repairs, status }) => repairs === 0 && status !== 'failed');
  return inTurn.flatMap((apply, i) =>
    i > 0 && apply.sequence < inTurn[i - 1]!.sequence
      ? [
          `${apply.id}, number ${apply.sequence}, ended after ${inTurn[i - 1]!.id}, number ${inTurn[i - 1]!.sequence}`,
        ]
      : [],
  );
}

/** A conflict is one with the head as it stood then; a decision is stale where the head was another one. */
function judgeVerdicts(applies: readonly ApplyRecord[], log: readonly LoggedEvent[]): string[] {
  const faults: string[] = [];
  let head: unknown;
  for (const { type, data } of log) {
    if (type === 'platform.head.updated') head = data.sourceId;
    if (type !== 'platform.apply.conflicted') continue;
    const apply = applies.find(({ id }) => id === data.id);
    if (!apply) continue;
    if (isStale(apply) ? apply.expectedHead === head : apply.head !== head)
      faults.push(
        `${apply.id} is conflicted (${apply.error ?? 'manual'}) with ${String(apply.head ?? apply.expectedHead)} while the head was ${String(head)}`,
      );
  }
  return faults;
}
