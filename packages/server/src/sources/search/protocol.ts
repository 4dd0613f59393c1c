/** The messages between a search and its threads. Files travel in columns, which clone as copies of memory. */

export interface Query {
  q: string;
  regex: boolean;
  caseSensitive: boolean;
  /** Lines around a match. */
  context: number;
  /** Regular expressions of globs. */
  include: string | null;
  exclude: string | null;
}

/** Shared with the thread: `STOP` is set by the caller, `BEGAN` by the thread, in milliseconds since `Job.since`. */
export const STOP = 0;
export const BEGAN = 1;

interface JobBase {
  query: Query;
  control: Int32Array;
  since: number;
  /** Time (`Date.now()`) from which on the job ends early. */
  endsAt: number;
}

/** Checks the pattern and chooses the paths that the globs hold for. `paths` are joined by NUL; null: all. */
export interface SelectJob extends JobBase {
  kind: 'select';
  paths: string | null;
}

/** Searches files, in the order of their paths. */
export interface SearchJob extends JobBase {
  kind: 'search';
  /** Three numbers a file: its frame, offset and length. */
  places: Int32Array;
  /** Four numbers a frame: its range, and there its offset, length and length after decompression. */
  frames: Int32Array;
  ranges: Uint8Array<ArrayBuffer>[];
  /** Lines of the first file that are done. */
  line: number;
  /** Whether the line it begins with has all the time there is: then the job goes on by a line at least. */
  isPatient: boolean;
  /** Matches at most. */
  limit: number;
}

export type Job = SelectJob | SearchJob;

export interface Range {
  start: number;
  end: number;
}

/** A line that matches. */
export interface Line {
  line: number;
  column: number;
  text: string;
  ranges: Range[];
  before: string[];
  after: string[];
  truncated: boolean;
}

export interface Found {
  /** `file` is its place in the job. */
  matches: (Line & { file: number })[];
  /** Places of binary files. */
  binary: number[];
  /** Where it ended early: all before is done, and these lines of the file. Null: all is done. */
  rest: { file: number; line: number } | null;
}

export type Answer =
  /** `read`: how many of the paths were looked at. */
  | { kind: 'selected'; chosen: Int32Array | null; read: number }
  | ({ kind: 'found' } & Found)
  | { kind: 'fault'; message: string }
  | { kind: 'damaged'; message: string };
