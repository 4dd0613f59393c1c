/** What a part of the torture is given and what it returns. */
import type { Random } from '../../harness/random.ts';
import type { Service, StartOptions } from '../../harness/service.ts';

/** For the full counts of all parts, on two cores. */
export const FULL_SECONDS = 1500;

export interface Setup {
  /** A folder of the part's own; the run removes it at its end. */
  scratch: string;
  /** The part's own generator: the same seed gives the same draws. */
  random: Random;
  /** `full` scaled to the time that the run was given, at least `least` (1). */
  count(full: number, least?: number): number;
  /** Aborted when the part's time is over: every wait ends on it. */
  signal: AbortSignal;
  /** Starts a service; the run stops it when the part has ended, however that was. */
  start(options?: StartOptions): Promise<Service>;
  /** Called when the part has ended, however that was, in reverse order. */
  atEnd(clean: () => Promise<void> | void): void;
  /** For what parts share: a folder that stays until the run ends, and what is called then. */
  whole: Pick<Setup, 'scratch' | 'atEnd'>;
  /** One line of progress, on stderr. */
  say(line: string): void;
}

export interface PartResult {
  /** What was done and what was lost, in one line: the counts as they were, not as they were meant. */
  line: string;
  figures: Record<string, number>;
  /** Each broken promise, in enough detail to look for it; none when all were kept. */
  failures: string[];
}

export interface Part {
  name: string;
  title: string;
  /**
   * Seconds of a full run that the part takes about; it is ended after three times that (scaled), and a
   * minute and a half.
   */
  seconds: number;
  run(setup: Setup): Promise<PartResult>;
}
