/**
 * Sends decisions: own texts as an edit of the draft, then the apply, for the head that they were made for. Nothing is
 * sent that nobody has decided or seen.
 *
 *   open, own texts        edit → preview again → sent, or open, or lost
 *   more than an apply     edit → preview again, in rounds → sent, or open
 *   head or draft moved    stale
 *   the page is left       stopped before the next write
 */
import type {
  Apply,
  ApplyPreview,
  CreateApplyInput,
  CreateEditInput,
  DiffFile,
  SourceFileContent,
} from '@headrace/client';
import { isCode, MAX_RESOLUTIONS } from '@headrace/client';
import { carried, compacted, planOf } from './decisions.ts';
import type { Entries, FileOf } from './decisions.ts';
import { goFirst, roundOf } from './rounds.ts';

export interface State {
  /** The draft. */
  sourceId: string;
  preview: ApplyPreview;
  entries: Entries;
}

export interface Service {
  edit(body: CreateEditInput): Promise<{ id: string }>;
  preview(body: { expectedSourceId: string; expectedHeadSourceId: string }): Promise<ApplyPreview>;
  diff(headSourceId: string, sourceId: string, paths: string[]): Promise<readonly DiffFile[]>;
  /** A file of the head. */
  file(headSourceId: string, path: string): Promise<SourceFileContent>;
  apply(body: CreateApplyInput): Promise<Apply>;
  /** Nobody sees any more what is sent: nothing more is. */
  isLeft(): boolean;
  /** The texts are in the draft: what is shown from now on. */
  onEdited(state: State): void;
  /** So many of the head's files go into the draft before the apply. */
  onRound(left: number): void;
}

export type Outcome =
  | { end: 'sent'; apply: Apply }
  /** Draft or head are others by now; nothing was applied. */
  | { end: 'stale'; what: 'head' | 'draft' }
  | { end: 'open'; count: number }
  /** The merge takes something else than what was decided. */
  | ({ end: 'lost' } & Lost)
  | { end: 'too-many'; count: number }
  /** Before it was applied; what is in the draft stays. */
  | { end: 'stopped' };

/** Paths that are in conflict no more, where the result is not what was decided. */
export interface Lost {
  /** One's own text is that of the base: the merge takes the head's lines. */
  texts: string[];
  /** The head's side was taken, as by a round, and a later head has the base's: the merge takes the draft's. */
  heads: string[];
}

const MESSAGE = 'Conflicts resolved by hand';

/** `accepts`: what the last outcome said to be lost may be. */
export async function sendDecisions(
  state: State,
  service: Service,
  { fileOf, accepts = false }: { fileOf: FileOf; accepts?: boolean },
): Promise<Outcome> {
  try {
    const { changes, open } = planOf(state.preview.conflicts, state.entries, fileOf);
    if (open.length > 0) return { end: 'open', count: open.length };
    const next = changes.length > 0 ? await edit(state, changes, service) : state;
    if (accepts && next === state) return await send(next, service, { fileOf, accepts });
    const lost = { texts: await lostTexts(next, service), heads: lostHeads(next) };
    return isLost(lost) ? { end: 'lost', ...lost } : await send(next, service, { fileOf });
  } catch (error) {
    if (isCode(error, 'stale_head')) return { end: 'stale', what: 'head' };
    if (isCode(error, 'stale_source')) return { end: 'stale', what: 'draft' };
    throw error;
  }
}

async function send(
  { sourceId, preview, entries }: State,
  service: Service,
  { fileOf, accepts = false }: { fileOf: FileOf; accepts?: boolean },
): Promise<Outcome> {
  const { conflicts, headSourceId } = preview;
  const { open, changes, resolutions } = planOf(conflicts, entries, fileOf);
  if (open.length > 0) return { end: 'open', count: open.length };
  if (changes.length > 0) throw new Error('The draft does not have the texts that were sent.');
  const sent = compacted(conflicts, resolutions);
  if (sent.length > MAX_RESOLUTIONS) {
    const first = goFirst(conflicts, resolutions);
    if (!first) return { end: 'too-many', count: sent.length };
    if (service.isLeft()) return { end: 'stopped' };
    service.onRound(first.length);
    const round = await roundOf(first, (path) => service.file(headSourceId, path));
    // What is left may be another round. After a reload it goes on from the draft that there is by then.
    return send(await edit({ sourceId, preview, entries }, round, service), service, { fileOf, accepts });
  }
  // A round may have ended it.
  const heads = accepts ? [] : lostHeads({ preview, entries });
  if (heads.length > 0) return { end: 'lost', texts: [], heads };
  if (service.isLeft()) return { end: 'stopped' };
  const apply = await service.apply({
    expectedSourceId: sourceId,
    conflictResolution: 'manual',
    expectedHeadSourceId: headSourceId,
    ...(sent.length > 0 && { resolutions: sent }),
  });
  return { end: 'sent', apply };
}

async function edit(
  { sourceId, preview, entries }: State,
  changes: CreateEditInput['changes'],
  service: Service,
): Promise<State> {
  const source = await service.edit({ expectedSourceId: sourceId, changes, message: MESSAGE });
  const next = await service.preview({
    expectedSourceId: source.id,
    expectedHeadSourceId: preview.headSourceId,
  });
  const state = { sourceId: source.id, preview: next, entries: carried(next.conflicts, entries) };
  service.onEdited(state);
  return state;
}

const isLost = ({ texts, heads }: Lost) => texts.length + heads.length > 0;

/** Where the head's file was wanted, and the result has another one. */
export function lostHeads({ preview, entries }: Pick<State, 'preview' | 'entries'>): string[] {
  const inConflict = new Set(preview.conflicts.map(({ path }) => path));
  const changed = new Set(preview.changes.flatMap(({ path, oldPath }) => [path, oldPath ?? path]));
  return [...entries.values()].flatMap(({ path, choice }) =>
    choice === 'head' && changed.has(path) && !inConflict.has(path) ? [path] : [],
  );
}

const MOST_PATHS = 50;

/** Own texts that are in conflict no more, and that the merge does not take as they are. */
export async function lostTexts({ sourceId, preview, entries }: State, service: Pick<Service, 'diff'>) {
  const inConflict = new Set(preview.conflicts.map(({ path }) => path));
  const settled = [...entries.values()].flatMap(({ path, choice }) =>
    choice === 'text' && !inConflict.has(path) ? [path] : [],
  );
  const lost: string[] = [];
  for (let at = 0; at < settled.length; at += MOST_PATHS) {
    const paths = settled.slice(at, at + MOST_PATHS);
    const wanted = await service.diff(preview.headSourceId, sourceId, paths);
    for (const path of paths) {
      const [draft, result] = [wanted, preview.changes].map((list) => list.find((one) => one.path === path));
      if (!isSameChange(draft, result)) lost.push(path);
    }
  }
  return lost;
}

/** By its patch; large ones have only counts. */
const isSameChange = (a: DiffFile | undefined, b: DiffFile | undefined): boolean =>
  a?.additions === b?.additions &&
  a?.deletions === b?.deletions &&
  (!a?.patch || !b?.patch || a.patch === b.patch);
