/** What a benchmark is given and what it returns. */
import type { StartOptions, Service } from '../../harness/service.ts';
import type { Summary } from '../../harness/statistics.ts';

export interface Setup {
  /** A folder of the benchmark's own, on the file system that is measured; the run removes it at its end. */
  scratch: string;
  /** The short form: few samples, to see that everything works. */
  quick: boolean;
  /** Starts a service; the run stops it when the benchmark has ended, however that was. */
  start(options?: StartOptions): Promise<Service>;
  /** Called when the benchmark has ended, however that was, in reverse order. */
  atEnd(clean: () => Promise<void> | void): void;
  /** One line of progress. */
  say(line: string): void;
}

export interface Row {
  what: string;
  unit:
    | 'ms'
    | 'µs'
    | 'requests/s'
    | 'events/s'
    | 'applies/s'
    | 'deliveries/s'
    | 'sandboxes/s'
    | 'MiB/s'
    | 'KiB'
    | 'kB'
    | 'objects'
    | 'reads'
    | 'rows'
    | 'px';
  figures: Summary;
}

export interface Aim {
  what: string;
  /** `most`: the value may not be above the limit; `least`: not below. */
  bound: 'most' | 'least';
  limit: number;
  value: number;
  unit: 'ms' | '×' | '%' | 'KiB' | 'kB' | 'objects' | 'px';
}

export interface Outcome {
  rows: Row[];
  aims: Aim[];
  notes: string[];
}

export interface Benchmark {
  name: string;
  title: string;
  run(setup: Setup): Promise<Outcome>;
}

export const isMet = ({ bound, limit, value }: Aim) => (bound === 'most' ? value <= limit : value >= limit);
