/** A thread's history as one sequence in order of time, read page by page. */
import type { Approval, Message, Run, Tool } from '../generated/types.ts';
import type { ThreadReads } from './reads.ts';

export type HistoryItem =
  | { kind: 'message'; message: Message }
  | { kind: 'tool'; tool: Tool }
  | { kind: 'approval'; approval: Approval }
  | { kind: 'run'; run: Run };

/** The part of a thread: its messages after a given one, and its runs that had not ended before a given time. */
export interface HistoryRange {
  afterSequence: number;
  endedSince: string;
}

/**
 * The tools of a run come before its end, or after its start if it has not ended. Work continues meanwhile, so the
 * order of the reads matters: first the runs, then which messages are the last, then the tools. What came before
 * one of these messages exists when the tools are read; what belongs to a run that started later comes as events.
 */
export async function* historyOf(
  reads: ThreadReads,
  { afterSequence, endedSince }: HistoryRange,
): AsyncGenerator<HistoryItem> {
  const runs = await runsOf(reads, endedSince);
  const last = await lastMessage(reads);
  const approvals = runs.length ? await approvalsOf(reads, runs) : [];
  const messages = new Lookahead(
    messagesBetween(reads, afterSequence, last?.sequence ?? afterSequence),
    new Set(runs.map((run) => run.id)),
  );
  for (const run of runs) {
    if (run.finishedAt === null) {
      yield* messages.until(run.createdAt);
      yield { kind: 'run', run };
    }
    const own = approvals.filter((approval) => approval.runId === run.id);
    for (const { at, item } of await stepsOf(reads, run, own)) {
      yield* messages.until(at);
      yield item;
    }
    if (run.finishedAt !== null) {
      yield* messages.until(run.finishedAt);
      yield { kind: 'run', run };
    }
  }
  yield* messages.until(null);
}

export async function lastMessage(reads: ThreadReads): Promise<Message | undefined> {
  for await (const page of reads.messages('desc', 1)) return page[0];
  return undefined;
}

/** Oldest first. After a page of runs that ended earlier, all further pages have only such runs. */
async function runsOf(reads: ThreadReads, endedSince: string): Promise<Run[]> {
  const all: Run[] = [];
  for await (const page of reads.runs()) {
    const wanted = page.filter((run) => run.finishedAt === null || run.finishedAt >= endedSince);
    all.push(...wanted);
    if (!wanted.length) break;
  }
  return all.toReversed();
}

async function approvalsOf(reads: ThreadReads, runs: readonly Run[]): Promise<Approval[]> {
  const all: Approval[] = [];
  for await (const page of reads.approvals()) {
    all.push(...page);
    if (page.some((approval) => approval.createdAt < runs[0]!.createdAt)) break;
  }
  return all.toReversed();
}

/** The tools and approvals of a run, by time. */
async function stepsOf(
  reads: ThreadReads,
  run: Run,
  approvals: readonly Approval[],
): Promise<{ at: string; item: HistoryItem }[]> {
  const steps: { at: string; item: HistoryItem }[] = [];
  let at = run.createdAt;
  for await (const page of reads.tools(run.id, 'asc'))
    for (const tool of page) {
      // A tool that never started keeps its place.
      at = tool.startedAt ?? at;
      steps.push({ at, item: { kind: 'tool', tool } });
    }
  for (const approval of approvals)
    steps.push({ at: approval.createdAt, item: { kind: 'approval', approval } });
  return steps.toSorted((a, b) => Number(a.at > b.at) - Number(a.at < b.at));
}

/** Usually one message is new. */
const NEWEST = 10;

/** Oldest first. Read from the end if some are left out: the thread may be long. */
export async function* messagesBetween(
  reads: ThreadReads,
  after: number,
  last: number,
): AsyncGenerator<Message> {
  if (after < 0) {
    for await (const page of reads.messages('asc'))
      for (const message of page) {
        if (message.sequence > last) return;
        yield message;
      }
    return;
  }
  const newest: Message[] = [];
  for await (const page of reads.messages('desc', NEWEST)) {
    newest.push(...page.filter(({ sequence }) => sequence > after && sequence <= last));
    if (page.some(({ sequence }) => sequence <= after)) break;
  }
  yield* newest.toReversed();
}

/** Messages up to a time, then those after it that belong to known runs. */
class Lookahead {
  readonly #messages: AsyncGenerator<Message>;
  readonly #runs: ReadonlySet<string>;
  #next: Message | null = null;

  constructor(messages: AsyncGenerator<Message>, runs: ReadonlySet<string>) {
    this.#messages = messages;
    this.#runs = runs;
  }

  /** Null: all that are left. */
  async *until(time: string | null): AsyncGenerator<HistoryItem> {
    for (;;) {
      this.#next ??= (await this.#messages.next()).value ?? null;
      if (this.#next === null || (time !== null && this.#next.createdAt > time)) return;
      if (this.#next.runId !== null && !this.#runs.has(this.#next.runId)) return;
      yield { kind: 'message', message: this.#next };
      this.#next = null;
    }
  }
}
