/**
 * A file of events, one JSON line each. The file alone says where it goes on, after the event of its last line, so each
 * event is in it once, whenever the process dies:
 *
 *   torn line at the end (the process died in a write) → cut off, since its event comes again
 *   whole lines                                        → kept; the last one's cursor is where it goes on
 *
 * A line goes to the system at once, which keeps it when the process dies. `fsync` is only called at the end and between
 * bursts: what a power failure takes from the end of the file comes again, too.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import type { DirectEvent, HeadraceEvent } from '@headrace/client';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { lockFile } from './lock.ts';

export type AnyEvent = HeadraceEvent | DirectEvent;
type Last = Pick<AnyEvent, 'id' | 'cursor' | 'occurredAt'>;

const BLOCK = 64 * 1024;
/** Far longer than any event: a file with a longer last line is another one. */
const LONGEST_LINE = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

export class SavedEvents {
  readonly path: string;
  /** Of the last whole line when it was opened. */
  last: Last | undefined;
  readonly #file: number;
  readonly #unlock: () => void;

  private constructor(path: string, { file, unlock }: { file: number; unlock: () => void }) {
    this.path = path;
    this.#file = file;
    this.#unlock = unlock;
  }

  /** Makes the file if it is missing, and cuts off a torn last line. Throws for a file of something else. */
  static async open(path: string): Promise<SavedEvents> {
    const file = opened(path);
    try {
      const unlock = await lockFile(fstatSync(file, { bigint: true }));
      if (!unlock)
        throw new Fault(EXIT.busy, `Another process saves events to ${path}.`, {
          hint: 'Stop it, or name another file.',
        });
      const saved = new SavedEvents(path, { file, unlock });
      try {
        saved.#recover();
        return saved;
      } catch (error) {
        unlock();
        throw error;
      }
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  append(event: AnyEvent): void {
    // With O_APPEND, and until all of it is written.
    writeFileSync(this.#file, `${JSON.stringify(event)}\n`);
  }

  sync(): void {
    fsyncSync(this.#file);
  }

  close(): void {
    this.sync();
    closeSync(this.#file);
    this.#unlock();
  }

  #recover(): void {
    const size = fstatSync(this.#file).size;
    const end = this.#lineStart(size);
    if (end < size) {
      const torn = this.#text(end, size);
      // Zeros are what a power failure may leave of a write.
      if (!/^(\0+$|\{$|\{"id)/.test(torn)) throw notEvents(this.path);
      ftruncateSync(this.#file, end);
    }
    if (end === 0) return;
    this.last = eventOf(this.#text(this.#lineStart(end - 1), end), this.path);
  }

  /** Where the line begins that the byte before `end` belongs to. */
  #lineStart(end: number): number {
    const block = Buffer.alloc(BLOCK);
    for (let at = end; at > 0; at -= BLOCK) {
      const from = Math.max(0, at - BLOCK);
      const read = readSync(this.#file, block, 0, at - from, from);
      const newline = block.subarray(0, read).lastIndexOf(NEWLINE);
      if (newline >= 0) return from + newline + 1;
      if (end - from > LONGEST_LINE) throw notEvents(this.path);
    }
    return 0;
  }

  #text(from: number, to: number): string {
    const content = Buffer.alloc(to - from);
    return content.toString('utf8', 0, readSync(this.#file, content, 0, to - from, from));
  }
}

function opened(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT } = constants;
  let file: number;
  try {
    // Events name people's work: for their owner alone.
    file = openSync(path, O_RDWR | O_APPEND | O_CREAT, 0o600);
  } catch (error) {
    throw usage(`${path} cannot be written: ${(error as Error).message}`);
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw usage(`${path} is not a regular file.`);
}

function eventOf(line: string, path: string): Last {
  try {
    const event = JSON.parse(line) as Partial<Last>;
    if (typeof event.id === 'string' && typeof event.cursor === 'string') return event as Last;
  } catch {
    // The same as for another document.
  }
  throw notEvents(path);
}

const notEvents = (path: string) =>
  usage(
    `${path} is a file of something else: its last line is no event. Nothing was changed.`,
    'Name another file.',
  );
