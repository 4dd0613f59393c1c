/** What the tests of every page know of one. */
import type { Visit } from './browser.ts';
import type { WholeGround } from './ground.ts';

export interface Scene {
  name: string;
  path(ground: WholeGround): string;
  /** After the page has come to rest: opens what the scene shows. */
  prepare?(visit: Visit): Promise<unknown>;
}

export interface PageScene extends Scene {
  /** The read without which the page has nothing to show. */
  read: RegExp;
  /** The same page of something that does not exist, if its address has an id of its own. */
  unknown?(ground: WholeGround): string;
  /** Where nothing is to be shown: the same page of a service without apps, or of an app without any work. */
  empty?: 'service' | ((appId: string) => string);
}

/** An id of the right form that nothing has. */
export const none = (id: string) => `${id.slice(0, id.indexOf('_') + 1)}${'0'.repeat(26)}`;
