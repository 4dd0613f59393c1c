/** What both parts of the demo work with. */
import { join } from 'node:path';

export const EXAMPLES = join(import.meta.dirname, '../../examples');
export const WORKSHOP = join(EXAMPLES, 'workshop');
export const RUN_LIMIT_MS = 5 * 60_000;

class StoryFailure extends Error {}

export function must(holds: boolean, what: string): void {
  if (!holds) throw new StoryFailure(`This did not hold: ${what}.`);
}
