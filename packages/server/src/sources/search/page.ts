/**
 * One page of a search: from a position in the source up to a number of matches, the end of the source, or the
 * end of its time. Batches are searched side by side and taken in order.
 */
import type { Context } from '../../context.ts';
import type { Tree } from '../../trees/tree.ts';
import { storageCorrupt } from '../faults.ts';
import { Cutter, readBatch } from './batches.ts';
import type { Batch } from './batches.ts';
import { FileReader } from './file-reader.ts';
import type { Position } from './file-reader.ts';
import { placeFiles } from './placements.ts';
import type { Numbered, SearchedSource } from './placements.ts';
import { noRoom } from './pool.ts';
import { BEGAN, STOP } from './protocol.ts';
import type { Answer, Found, Line, Query } from './protocol.ts';

/** From its start: jobs end early; threads are ended. What is left of two seconds is for the answer. */
const EARLY_MS = 1_400;
const LAST_MS = 1_850;
/** A job that ran this long and is not past its first line never will be. */
const STUCK_MS = 1_000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** A page with more text ends there: sending it would block the event loop. */
const MAX_CHARACTERS = 2_000_000;

export interface PageRequest {
  orgId: string;
  source: SearchedSource;
  tree: Tree;
  query: Query;
  from: Position;
  limit: number;
  /** When the page's time began (`Date.now()`). */
  since: number;
  /** The caller has gone. */
  signal: AbortSignal;
}

/** A line that matches, and its place as a position behind it. */
export interface Match extends Position {
  match: Line & { path: string };
}

export interface SearchedPage {
  matches: Match[];
  /** Files that are not searched, with their places in the source. */
  skipped: { index: number; reason: 'binary' | 'tooLarge' }[];
  /** Null: the source's end. */
  rest: Position | null;
}

/** The pattern is at fault, in words for a person. */
export class QueryFault extends Error {}

type Searching = Pick<Context, 'db' | 'store' | 'searches'>;

/** Throws `QueryFault`, 503 `unavailable` where no thread had time, or 503 `source_storage_unavailable`. */
export async function searchPage(ctx: Searching, request: PageRequest): Promise<SearchedPage> {
  const search = new PageSearch(ctx, request);
  const stop = () => search.stop();
  request.signal.addEventListener('abort', stop);
  if (request.signal.aborted) stop();
  try {
    return await search.run();
  } finally {
    request.signal.removeEventListener('abort', stop);
    stop();
  }
}

/** A batch under way. */
interface Started {
  batch: Batch;
  /** Lines of its first file that are done. */
  line: number;
  control: Int32Array;
  /** Null: no time was left. */
  answer: Promise<Answer | null>;
}

class PageSearch {
  readonly #ctx: Searching;
  readonly #request: PageRequest;
  readonly #since: number;
  readonly #last: AbortSignal;
  readonly #files: FileReader;
  readonly #controls: Int32Array[] = [];
  readonly #page: SearchedPage = { matches: [], skipped: [], rest: null };
  #characters = 0;
  #isStopped = false;

  constructor(ctx: Searching, request: PageRequest) {
    this.#ctx = ctx;
    this.#request = request;
    this.#since = request.since;
    this.#last = AbortSignal.timeout(Math.max(request.since + LAST_MS - Date.now(), 0));
    this.#files = new FileReader(request.tree, request.from.index);
  }

  /** Ends jobs under way soon, and starts no more. */
  stop(): void {
    this.#isStopped = true;
    for (const control of this.#controls) Atomics.store(control, STOP, 1);
  }

  async run(): Promise<SearchedPage> {
    const batches = this.#batches();
    const started: Started[] = [];
    let width = 1;
    let reached = this.#request.from;
    for (;;) {
      while (started.length < width) {
        const next = await this.#withoutLate(batches.next());
        if (next === null) return this.#unplaced(reached);
        if (next.done) break;
        started.push(this.#start(next.value, this.#firstLineOf(next.value)));
      }
      const first = started.shift();
      if (!first) return { ...this.#page, rest: this.#files.rest };
      const answer = await first.answer;
      if (answer === null) return this.#unanswered(first);
      const rest = this.#take(first.batch, foundOf(answer));
      const position = rest ?? { index: first.batch.files.at(-1)!.index + 1, line: 0 };
      const isTimeOver = Date.now() >= this.#endsAt && this.#isProgress(position);
      const isOver = this.#isFull() || isTimeOver || this.#isStopped;
      if (isOver) return this.#endAt(position);
      // Others had to have their turn, or a line needs time: that line begins the next job.
      if (rest) started.unshift(this.#startPatiently(from(first.batch, rest.index), rest.line));
      reached = position;
      width = this.#ctx.searches.size + 1;
    }
  }

  /** Batches that were searched side by side can have more than the page. */
  #endAt(rest: Position): SearchedPage {
    const { matches, skipped } = this.#page;
    const { limit } = this.#request;
    if (matches.length <= limit) return { matches, skipped, rest };
    const { index, line } = matches[limit - 1]!;
    return { matches: matches.slice(0, limit), skipped, rest: { index, line } };
  }

  get #endsAt(): number {
    return this.#since + EARLY_MS;
  }

  #isFull(): boolean {
    return this.#page.matches.length >= this.#request.limit || this.#characters >= MAX_CHARACTERS;
  }

  #firstLineOf({ files }: Batch): number {
    return files[0]!.index === this.#request.from.index ? this.#request.from.line : 0;
  }

  async *#batches(): AsyncGenerator<Batch, void> {
    const cutter = new Cutter();
    for (let files = await this.#choose(); files; files = await this.#choose()) {
      for (const { index, entry } of files)
        if (entry.byteSize > MAX_FILE_BYTES) this.#page.skipped.push({ index, reason: 'tooLarge' });
      // Empty files have no line.
      const searched = files.filter(({ entry: { byteSize } }) => byteSize > 0 && byteSize <= MAX_FILE_BYTES);
      if (searched.length > 0) yield* cutter.cut(await placeFiles(this.#ctx, this.#request.source, searched));
    }
  }

  /** The next files that the globs hold for; null at the end. The first call checks the pattern. */
  async #choose(): Promise<Numbered[] | null> {
    const { query } = this.#request;
    const hasGlobs = query.include !== null || query.exclude !== null;
    const isFirst = this.#controls.length === 0;
    const files = this.#files.next();
    if (!isFirst && (files.length === 0 || !hasGlobs)) return files.length === 0 ? null : files;
    const chosen: Numbered[] = [];
    let read = 0;
    // Others have their turn in between.
    do {
      const control = this.#control();
      const answer = await this.#select(hasGlobs ? files.slice(read) : null, control);
      if (answer?.kind === 'fault') throw new QueryFault(answer.message);
      if (answer?.kind !== 'selected') {
        if (!isFirst || read > 0) break;
        if (this.#isStuck(control)) throw new QueryFault('takes too long');
        throw noRoom();
      }
      if (files.length === 0 || !hasGlobs) return files.length === 0 ? null : files;
      for (const at of answer.chosen!) chosen.push(files[read + at]!);
      read += answer.read;
    } while (read < files.length && Date.now() < this.#endsAt && !this.#isStopped);
    if (read < files.length) this.#files.giveBack(files, read);
    return chosen;
  }

  #select(files: readonly Numbered[] | null, control: Int32Array): Promise<Answer | null> {
    const { query, orgId } = this.#request;
    const paths = files && files.map(({ path }) => path).join('\0');
    const times = { control, since: this.#since, endsAt: this.#endsAt };
    return this.#withoutLate(
      this.#ctx.searches.run(orgId, { kind: 'select', query, ...times, paths }, this.#last),
    );
  }

  #control(): Int32Array {
    const control = new Int32Array(new SharedArrayBuffer(8));
    this.#controls.push(control);
    return control;
  }

  #start(batch: Batch, line: number): Started {
    const control = this.#control();
    const answer = this.#withoutLate(this.#search({ batch, line, control }, false));
    // A batch behind the page's end is not awaited.
    answer.catch(() => {});
    return { batch, line, control, answer };
  }

  /** The page waits for this one, whatever its first line takes: no other is started so at the same time. */
  #startPatiently(batch: Batch, line: number): Started {
    const control = this.#control();
    const { patiently } = this.#ctx.searches;
    const work = patiently(this.#request.orgId, () => this.#search({ batch, line, control }, true));
    return { batch, line, control, answer: this.#withoutLate(work) };
  }

  #search(part: Pick<Started, 'batch' | 'line' | 'control'>, isPatient: boolean): Promise<Answer | null> {
    const { inTurn } = this.#ctx.searches;
    return inTurn(this.#request.orgId, () => this.#searchNow(part, isPatient));
  }

  async #searchNow(
    { batch, line, control }: Pick<Started, 'batch' | 'line' | 'control'>,
    isPatient: boolean,
  ): Promise<Answer | null> {
    if (this.#isStopped || this.#last.aborted) return null;
    const { query, source, orgId } = this.#request;
    const stored = await readBatch(this.#ctx, source, batch);
    if (this.#isStopped || this.#last.aborted) return null;
    const limit = this.#request.limit - this.#page.matches.length;
    const times = { control, since: this.#since, endsAt: this.#endsAt };
    const job = { kind: 'search' as const, query, ...stored, ...times, line, isPatient, limit };
    return this.#ctx.searches.run(orgId, job, this.#last);
  }

  /** Null once the time is over, whatever is still awaited then. */
  #withoutLate<T>(work: Promise<T>): Promise<T | null> {
    return new Promise((resolve, reject) => {
      work.then(resolve, reject);
      if (this.#last.aborted) resolve(null);
      this.#last.addEventListener('abort', () => resolve(null), { once: true });
    });
  }

  /** Adds what was found; returns where the batch was left, null at its end. */
  #take({ files }: Batch, found: Found): Position | null {
    for (const { file, ...line } of found.matches) {
      const { index, path } = files[file]!;
      this.#page.matches.push({ index, line: line.line, match: { path, ...line } });
      for (const text of [line.text, ...line.before, ...line.after]) this.#characters += text.length;
    }
    for (const file of found.binary) this.#page.skipped.push({ index: files[file]!.index, reason: 'binary' });
    return found.rest && { index: files[found.rest.file]!.index, line: found.rest.line };
  }

  /** A page ends before a batch that was not answered in time, and behind a line that never will be. */
  #unanswered({ batch, line, control }: Started): SearchedPage {
    const index = batch.files[0]!.index;
    if (this.#isProgress({ index, line }) || this.#isStopped) return { ...this.#page, rest: { index, line } };
    if (!this.#isStuck(control)) throw noRoom();
    this.#page.skipped.push({ index, reason: 'tooLarge' });
    return { ...this.#page, rest: { index: index + 1, line: 0 } };
  }

  /** A page ends before files that were not placed in time. */
  #unplaced(reached: Position): SearchedPage {
    if (this.#isProgress(reached) || this.#isStopped) return { ...this.#page, rest: reached };
    throw noRoom();
  }

  #isProgress({ index, line }: Position): boolean {
    const { from: begin } = this.#request;
    return index > begin.index || line > begin.line;
  }

  #isStuck(control: Int32Array): boolean {
    const began = Atomics.load(control, BEGAN);
    return began > 0 && Date.now() - this.#since - began >= STUCK_MS;
  }
}

const from = ({ files }: Batch, index: number): Batch => ({
  files: files.slice(files.findIndex((file) => file.index === index)),
});

function foundOf(answer: Answer): Found {
  if (answer.kind === 'found') return answer;
  if (answer.kind === 'damaged') throw storageCorrupt(new Error(answer.message));
  throw new Error(`a search was answered with ${answer.kind}`);
}
