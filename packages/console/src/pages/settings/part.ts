import type { Settings } from '@headrace/client';
import type { Draft, wrongIn } from './draft.ts';
import type { Whose } from './level.ts';

/** What each part of the form is given. */
export interface PartProps {
  of: Whose;
  draft: Draft;
  set: (typed: Partial<Draft>) => void;
  wrong: ReturnType<typeof wrongIn>;
  /** Of the last refusal. */
  fields: readonly { path: string; message: string }[];
  /** Null where the user may not read it, and in its own form. */
  organization: Settings | null;
}
