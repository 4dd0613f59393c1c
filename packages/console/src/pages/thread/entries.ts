/** The rows of a conversation, oldest first: messages, and each run where its work belongs. */
import type { Approval, Checkpoint, Message, Run } from '@headrace/client';

/** A reply in progress; its text is read where it is shown, since it changes with every frame. */
export interface Growing {
  messageId: string;
  runId: string;
}

export type Entry =
  | { kind: 'message'; id: string; message: Message }
  | { kind: 'run'; id: string; run: Run; checkpoint: Checkpoint | null }
  | { kind: 'checkpoint'; id: string; checkpoint: Checkpoint }
  | { kind: 'draft'; id: string; draft: Growing }
  | InheritedLine;

/** Below what a fork inherited of another thread: unfolds it. */
export interface InheritedLine {
  kind: 'inherited';
  id: string;
  threadId: string;
  /** Of its messages, so many have been read. */
  count: number;
  isOpen: boolean;
}

export interface Parts {
  /** Oldest first. */
  messages: Message[];
  runs: Run[];
  checkpoints: Checkpoint[];
  draft: Growing | null;
  /** Whether nothing is older: else what has no message on the page is left out above it. */
  isWhole: boolean;
}

export const isActive = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'queued' || status === 'running' || status === 'waiting';

/** A run stands before its reply; without one, after the last message that it took. */
export function entriesOf({ messages, runs, checkpoints, draft, isWhole }: Parts): Entry[] {
  const ofRun = new Map(checkpoints.filter(({ runId }) => runId).map((one) => [one.runId!, one]));
  const before = new Map<number, Entry[]>();
  const place = (at: number, entry: Entry) => before.set(at, [...(before.get(at) ?? []), entry]);
  const places = placesOf(messages);
  const since = isWhole ? '' : (messages[0]?.createdAt ?? '');
  for (const run of runs) {
    const known = places.get(run.id) ?? placeByTime(messages, since, run.createdAt);
    if (known !== null) place(known, { kind: 'run', id: run.id, run, checkpoint: ofRun.get(run.id) ?? null });
  }
  for (const checkpoint of checkpoints.toReversed()) {
    if (checkpoint.kind === 'run') continue;
    const at = placeByTime(messages, since, checkpoint.createdAt);
    if (at !== null) place(at, { kind: 'checkpoint', id: checkpoint.id, checkpoint });
  }
  const entries = messages.flatMap((message, at): Entry[] => [
    ...(before.get(at) ?? []),
    { kind: 'message', id: message.id, message },
  ]);
  entries.push(...(before.get(messages.length) ?? []));
  // The message itself has the draft's id: for a moment both are there.
  if (draft && !messages.some(({ id }) => id === draft.messageId))
    insertDraft(entries, { kind: 'draft', id: draft.messageId, draft });
  return entries;
}

/** Before which message each run stands. */
function placesOf(messages: Message[]): Map<string, number> {
  const places = new Map<string, number>();
  const replied = new Set<string>();
  for (const [at, { runId, role }] of messages.entries()) {
    if (runId === null || replied.has(runId)) continue;
    places.set(runId, role === 'assistant' ? at : at + 1);
    if (role === 'assistant') replied.add(runId);
  }
  return places;
}

function placeByTime(messages: Message[], since: string, createdAt: string): number | null {
  if (createdAt < since) return null;
  const at = messages.findLastIndex((message) => message.createdAt <= createdAt);
  return at + 1;
}

/** After its run, so that what is queued behind it stays below. */
function insertDraft(entries: Entry[], entry: Extract<Entry, { kind: 'draft' }>): void {
  const at = entries.findIndex(({ id }) => id === entry.draft.runId);
  if (at === -1) entries.push(entry);
  else entries.splice(at + 1, 0, entry);
}

/** What a fork inherited, oldest first: a line for each thread that it is of, above it the messages if it is unfolded. */
export function inheritedEntries(messages: readonly Message[], unfolded: ReadonlySet<string>): Entry[] {
  const entries: Entry[] = [];
  for (const [at, message] of messages.entries()) {
    const { threadId } = message;
    const isOpen = unfolded.has(threadId);
    if (isOpen) entries.push({ kind: 'message', id: message.id, message });
    if (messages[at + 1]?.threadId === threadId) continue;
    const count = messages.filter((one) => one.threadId === threadId).length;
    entries.push({ kind: 'inherited', id: `inherited ${threadId}`, threadId, count, isOpen });
  }
  return entries;
}

/** Those that wait, the oldest first. */
export const openApprovals = (approvals: Approval[]): Approval[] =>
  approvals.filter(({ status }) => status === 'pending').toReversed();
