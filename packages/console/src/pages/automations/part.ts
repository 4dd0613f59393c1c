import type { Draft, Wrong } from './draft.ts';

/** What each part of the form gets. */
export interface PartProps {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
  /** What the service says of a field, by its JSON pointer. */
  faultAt: (pointer: string) => string | null;
  wrong: Wrong;
}
