/**
 * The newest events of a feed and the cursors between them: what a tab has seen, and what the leader repeats to a
 * tab that missed messages.
 */
import type { LiveEvent } from './lanes.ts';

const MOST_MARKS = 2_000;
/** More than marks: every event after a known cursor is recognized. */
const MOST_IDS = 4_000;

export class Recent {
  #marks: { cursor: string; event: LiveEvent | null }[] = [];
  readonly #cursors = new Set<string>();
  readonly #ids = new Set<string>();
  /** Of the last event in order. */
  #sequence = -1n;

  /** Up to where the events are known; null before the first start. */
  get cursor(): string | null {
    return this.#marks.at(-1)?.cursor ?? null;
  }

  /**
   * Whether it is the next one: false for an event that was added before, and for one that is older than another,
   * which a leader sends that is behind. What the older one changed was read again when that leader took over.
   */
  addEvent(event: LiveEvent): boolean {
    if (this.#ids.has(event.id)) return false;
    this.#ids.add(event.id);
    if (this.#ids.size > MOST_IDS) this.#ids.delete(this.#ids.values().next().value!);
    this.#mark(event.cursor, event);
    const sequence = BigInt(event.sequence);
    if (sequence <= this.#sequence) return false;
    this.#sequence = sequence;
    return true;
  }

  addCursor(cursor: string): void {
    if (!this.#cursors.has(cursor)) this.#mark(cursor, null);
  }

  /** Whether everything after that cursor, up to here, was seen. */
  has(cursor: string): boolean {
    return this.#cursors.has(cursor);
  }

  /** The events after a cursor; null if it is unknown. */
  since(cursor: string): LiveEvent[] | null {
    const at = this.#marks.findLastIndex((mark) => mark.cursor === cursor);
    return at === -1 ? null : this.#marks.slice(at + 1).flatMap(({ event }) => event ?? []);
  }

  /** Starts again at a cursor: nothing is known to be complete before it. */
  restart(cursor: string): void {
    this.#marks = [];
    this.#cursors.clear();
    this.#mark(cursor, null);
  }

  /** The service has begun another history: its sequence may begin again. */
  forgetOrder(): void {
    this.#sequence = -1n;
  }

  #mark(cursor: string, event: LiveEvent | null): void {
    this.#marks.push({ cursor, event });
    this.#cursors.add(cursor);
    if (this.#marks.length <= MOST_MARKS) return;
    const dropped = this.#marks.splice(0, MOST_MARKS / 10);
    for (const mark of dropped) this.#cursors.delete(mark.cursor);
  }
}
