import type { JournalEntry, TaskEnd } from '../protocol.ts';

/** An entry before it gets its offset and time. */
type NewEntry = JournalEntry extends infer E
  ? E extends JournalEntry
    ? Omit<E, 'offset' | 'at'>
    : never
  : never;

/**
 * Above this number of unacknowledged bytes outputs are cut; above this number of entries only the end is
 * still written.
 */
const BYTES = 16 * 1024 * 1024,
  ENTRIES = 20_000;
const TEXT_INTERVAL_MS = 100;
const TEXT_BYTES = 1024 * 1024;
/** More than anybody is shown of a reply that is still being written: 100,000 code points. */
const DRAFT_CHARACTERS = 200_000;
const SHORT = 1024;

/** Where a journal keeps its entries, for one that outlives its process. */
export interface JournalStore {
  /** Bytes that it takes. */
  readonly byteSize: number;
  /** Called before any reader gets the entry. Never throws. */
  append(entry: JournalEntry): void;
  /** These are all entries that are left. Never throws. */
  rewrite(entries: JournalEntry[], next: number): void;
}

/** A store that takes this much more than its entries is written again. */
const WASTE_BYTES = 8 * 1024 * 1024;

/**
 * The events of one task, in order, until a worker has acknowledged them. Without a store it is in memory and dies
 * with the sandboxes. A new `text` replaces the previous one, also for later readers; offsets only grow but may have
 * gaps.
 */
export class Journal {
  #entries: JournalEntry[] = [];
  #next = 0;
  #bytes = 0;
  #pendingText: string | undefined;
  #textTimer: NodeJS.Timeout | undefined;
  #waiters = new Set<() => void>();
  #isEnded = false;
  readonly #store: JournalStore | undefined;

  /** `entries`, `next`: what the store had, and the offset after all that it ever had. */
  constructor(
    store?: JournalStore,
    { entries, next }: { entries: JournalEntry[]; next: number } = { entries: [], next: 0 },
  ) {
    this.#store = store;
    this.#entries = entries;
    this.#next = next;
    this.#bytes = entries.reduce((sum, entry) => sum + weight(entry), 0);
    this.#isEnded = entries.at(-1)?.type === 'end';
  }

  get lastOffset(): number {
    return this.#next - 1;
  }

  append(entry: NewEntry): void {
    if (this.#isEnded || (this.#entries.length >= ENTRIES && entry.type !== 'end')) return;
    if (entry.type === 'end') {
      this.#flushText();
      this.#isEnded = true;
    }
    this.#push(this.#bytes > BYTES ? shortened(entry) : entry);
  }

  /** Records the reply so far: at once after a silence, else at most every 100 ms; the final one always. */
  text(content: string): void {
    if (this.#isEnded) return;
    this.#pendingText = content.length > TEXT_BYTES ? content.slice(0, TEXT_BYTES) : content;
    if (this.#textTimer === undefined) this.#takeTurn();
  }

  /** Entries from this offset on as they arrive, until the end entry was given or the signal fires. */
  async *read(from: number, signal: AbortSignal): AsyncGenerator<JournalEntry> {
    let next = from;
    while (!signal.aborted) {
      const entry = this.#entries[this.#indexOf(next)];
      if (!entry) {
        if (this.#isEnded) return;
        await this.#changed(signal);
        continue;
      }
      next = entry.offset + 1;
      yield entry;
      if (entry.type === 'end') return;
    }
  }

  /** As read, without what nobody needs who only shows the reply: its texts, cut, and the end. */
  async *readDraft(from: number, signal: AbortSignal): AsyncGenerator<JournalEntry> {
    for await (const entry of this.read(from, signal)) {
      if (entry.type === 'text') yield { ...entry, content: entry.content.slice(0, DRAFT_CHARACTERS) };
      else if (entry.type === 'end') yield entry;
    }
  }

  /**
   * Allows it to forget entries up to and including the offset; it keeps the end entry, so that a late reader
   * still ends.
   */
  ack(offset: number): void {
    this.#entries = this.#entries.filter(
      (e) => e.offset > offset || e.type === 'end' || ((this.#bytes -= weight(e)), false),
    );
    this.#tidy();
  }

  get end(): TaskEnd | undefined {
    const last = this.#entries.at(-1);
    return last?.type === 'end' ? last : undefined;
  }

  /** Index of the first entry at or after an offset; offsets ascend. */
  #indexOf(offset: number): number {
    let low = 0,
      high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entries[middle]!.offset < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Writes the newest text, and lets the next one wait. */
  #takeTurn(): void {
    if (this.#pendingText === undefined) {
      this.#textTimer = undefined;
      return;
    }
    this.#writeText();
    this.#textTimer = setTimeout(() => this.#takeTurn(), TEXT_INTERVAL_MS);
  }

  #flushText(): void {
    clearTimeout(this.#textTimer);
    this.#textTimer = undefined;
    this.#writeText();
  }

  #writeText(): void {
    if (this.#pendingText === undefined) return;
    const content = this.#pendingText;
    this.#pendingText = undefined;
    this.#entries = this.#entries.filter((e) => e.type !== 'text' || ((this.#bytes -= weight(e)), false));
    this.#push({ type: 'text', content });
  }

  #push(entry: NewEntry): void {
    const whole = { offset: this.#next++, at: new Date().toISOString(), ...entry };
    this.#store?.append(whole);
    this.#entries.push(whole);
    this.#bytes += weight(whole);
    this.#tidy();
    for (const wake of this.#waiters) wake();
  }

  #tidy(): void {
    if (this.#store && this.#store.byteSize > 4 * this.#bytes + WASTE_BYTES)
      this.#store.rewrite(this.#entries, this.#next);
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiters.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiters.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}

function weight(entry: JournalEntry): number {
  if (entry.type === 'output') return entry.text.length;
  if (entry.type === 'text') return entry.content.length;
  if (entry.type !== 'tool' && entry.type !== 'permission') return 200;
  return (
    200 +
    (JSON.stringify(entry.input)?.length ?? 0) +
    (entry.type === 'tool' ? (entry.output?.length ?? 0) : 0)
  );
}

function shortened(entry: NewEntry): NewEntry {
  if (entry.type !== 'tool' && entry.type !== 'permission') return entry;
  const text = JSON.stringify(entry.input) ?? 'null';
  const input = text.length > SHORT ? { truncated: text.slice(0, SHORT) } : entry.input;
  if (entry.type === 'permission') return { ...entry, input };
  return {
    ...entry,
    input,
    ...(entry.output !== null && entry.output.length > SHORT
      ? { output: entry.output.slice(0, SHORT), truncated: true }
      : {}),
  };
}
