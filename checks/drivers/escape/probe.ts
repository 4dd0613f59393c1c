/**
 * An attempt to get out of a sandbox, or to harm what is outside. It runs inside and does not say whether it
 * may fail.
 */
export interface Probe {
  name: string;
  theme: string;
  /** Python with inside.py's helpers as its globals, or a shell script. */
  python?: string;
  sh?: string;
  /**
   * What must be true outside after a success; absent: its output says `ESCAPED`, or holds the canaries'
   * secret.
   */
  outside?: OutsideCheck;
}

/** Things that only this probe attacks, checked from outside after the probes have run. */
export type OutsideCheck =
  | { victim: 'dead' | 'stopped' | 'reniced' | 'relimited' | 'rewritten' | 'pinned' | 'rescheduled' }
  /** A file in the canaries' folder, or in a place that sandboxes share, has changed. */
  | {
      changed: 'target' | 'guest' | 'etc' | 'node' | 'neighbour' | 'neighbourHome' | 'pty' | 'shm' | 'linked';
    };

export interface Result {
  name: string;
  theme: string;
  succeeded: boolean;
  /** The end of its output, for a person. */
  said: string;
}

type Attempt = Omit<Probe, 'theme'>;

export const themed = (theme: string, attempts: Attempt[]): Probe[] =>
  attempts.map((attempt) => ({ ...attempt, theme }));
export const python = (name: string, text: string, outside?: OutsideCheck): Attempt => ({
  name,
  python: text,
  ...(outside && { outside }),
});
export const sh = (name: string, text: string, outside?: OutsideCheck): Attempt => ({
  name,
  sh: text,
  ...(outside && { outside }),
});
