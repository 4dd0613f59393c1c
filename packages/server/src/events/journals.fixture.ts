/** For tests: the journals of a runner that never was. */
import { RunnerError } from '@headrace/runner/client';
import type { JournalEntry } from '@headrace/runner/protocol';
import type { RunnerOf } from './follow-draft.ts';

interface FakeJournal {
  entries: JournalEntry[];
  next: number;
}

export class FakeJournals {
  /** Whether the runner answers. */
  isAway = false;
  /** Of which run, and from which offset on: each time that a journal was asked for. */
  readonly asked: { runId: string; from: number; only: string | undefined }[] = [];
  /** Journals being read now. */
  open = 0;
  readonly #byRun = new Map<string, FakeJournal>();
  readonly #wakes = new Set<() => void>();
  #breaks = 0;

  readonly runnerOf: RunnerOf = async () => ({
    runner: { journal: (id, from = 0, signal, only) => this.#read(id, from, signal!, only) },
  });

  begin(runId: string): void {
    this.#byRun.set(runId, { entries: [], next: 1 });
  }

  /** As a runner does, keeps the newest text only. */
  say(runId: string, content: string): void {
    const journal = this.#byRun.get(runId)!;
    journal.entries = journal.entries.filter(({ type }) => type !== 'text');
    this.#push(runId, { type: 'text', content });
  }

  end(runId: string): void {
    const end = { outcome: 'completed', exitCode: 0, signal: null, timedOut: false } as const;
    this.#push(runId, { type: 'end', ...end, oom: false, error: null, durationMs: 1 });
  }

  /** Cuts all connections. */
  break(): void {
    this.#breaks++;
    this.#wake();
  }

  #push(runId: string, entry: object): void {
    const journal = this.#byRun.get(runId)!;
    journal.entries.push({ offset: journal.next, at: new Date().toISOString(), ...entry } as JournalEntry);
    journal.next += 2; // gaps are allowed
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
    this.#wakes.clear();
  }

  async *#read(
    runId: string,
    from: number,
    signal: AbortSignal,
    only: string | undefined,
  ): AsyncGenerator<JournalEntry> {
    this.asked.push({ runId, from, only });
    const breaks = this.#breaks;
    const journal = this.#byRun.get(runId);
    if (this.isAway) throw new RunnerError(503, 'unavailable', 'The runner does not answer.');
    if (!journal) throw new RunnerError(404, 'not_found', 'There is no such task.');
    this.open++;
    try {
      for (let next = from; ;) {
        if (signal.aborted || this.#breaks > breaks)
          throw new RunnerError(503, 'unavailable', 'The journal broke off.');
        const entry = journal.entries.find(({ offset }) => offset >= next);
        if (!entry) {
          await new Promise<void>((resolve) => {
            this.#wakes.add(resolve);
            signal.addEventListener('abort', () => resolve(), { once: true });
          });
          continue;
        }
        next = entry.offset + 1;
        yield entry;
        if (entry.type === 'end') return;
      }
    } finally {
      this.open--;
    }
  }
}
