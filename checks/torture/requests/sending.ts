import type { ApiDocument } from './document.ts';
import type { Tally } from './tally.ts';
import type { World } from './world.ts';

/** What senders of requests share. */
export interface Sending {
  document: ApiDocument;
  world: World;
  tally: Tally;
  signal: AbortSignal;
}
