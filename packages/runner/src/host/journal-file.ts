import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { JournalEntry } from '../protocol.ts';
import type { JournalStore } from '../tasks/journal.ts';
import { syncFolder, writeDurably } from './state-folder.ts';

/** The first line of a journal's file. */
export interface JournalHead {
  task: { id: string; workspaceId: string };
  /** The offset after all entries that the journal ever had before those of the file. */
  next: number;
}

/**
 * A journal on disk: a line for its task, then its entries. An entry is in the file before anybody can read it, so a
 * reader never gets an offset twice with different entries, even if the program is killed. The head and the end are synced.
 */
export class JournalFile implements JournalStore {
  readonly #path: string;
  readonly #head: JournalHead;
  #fd: number | undefined;
  #size: number;
  /** Called once, at the first entry that cannot be written; from then on the journal is only in memory. */
  onFault: (error: Error) => void = () => {};

  private constructor(path: string, head: JournalHead, { fd, size }: { fd: number; size: number }) {
    this.#path = path;
    this.#head = head;
    this.#fd = fd;
    this.#size = size;
  }

  /** Throws EEXIST for a task that has one. */
  static create(path: string, task: JournalHead['task']): JournalFile {
    const fd = openSync(path, 'wx', 0o600);
    const head: JournalHead = { task, next: 0 };
    const size = write(fd, head);
    fsyncSync(fd);
    syncFolder(dirname(path));
    return new JournalFile(path, head, { fd, size });
  }

  /** Opens the file of an earlier program, which may have been killed while it wrote. Undefined for one without a head. */
  static open(path: string): { file: JournalFile; head: JournalHead; entries: JournalEntry[] } | undefined {
    const lines = readFileSync(path, 'utf8').split('\n');
    // What follows the last line end was not written whole, and no reader has got it.
    lines.pop();
    const [first, ...others] = lines;
    if (first === undefined) return undefined;
    const head = JSON.parse(first) as JournalHead;
    const entries: JournalEntry[] = [];
    for (const line of others) {
      const entry = JSON.parse(line) as JournalEntry;
      // A text replaces the one before.
      const before = entry.type === 'text' ? entries.findIndex(({ type }) => type === 'text') : -1;
      if (before >= 0) entries.splice(before, 1);
      entries.push(entry);
      head.next = Math.max(head.next, entry.offset + 1);
    }
    const file = new JournalFile(path, head, { fd: openSync(path, 'a', 0o600), size: 0 });
    file.rewrite(entries, head.next);
    return { file, head, entries };
  }

  get byteSize(): number {
    return this.#size;
  }

  append(entry: JournalEntry): void {
    this.#try((fd) => {
      this.#size += write(fd, entry);
      if (entry.type === 'end') fsyncSync(fd);
    });
  }

  rewrite(entries: JournalEntry[], next: number): void {
    this.#try((fd) => {
      const content = [{ ...this.#head, next }, ...entries].map(lineOf).join('');
      writeDurably(this.#path, content);
      closeSync(fd);
      this.#fd = openSync(this.#path, 'a', 0o600);
      this.#size = Buffer.byteLength(content);
    });
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #try(work: (fd: number) => void): void {
    if (this.#fd === undefined) return;
    try {
      work(this.#fd);
    } catch (error) {
      this.close();
      this.onFault(error as Error);
    }
  }
}

const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`;

function write(fd: number, value: unknown): number {
  const bytes = Buffer.from(lineOf(value));
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
  return bytes.length;
}
