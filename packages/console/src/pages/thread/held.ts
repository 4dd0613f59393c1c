/** What was read of a list that grows at its new end: the newest page is read again, older ones are kept. */
import type { Page } from '@headrace/client';

interface Item {
  id: string;
  createdAt: string;
}

export interface Held<T extends Item> {
  /** The newest page that is in it. */
  from: Page<T> | null;
  /** Oldest first. */
  items: T[];
  /** Reads what is older; null: all is here. */
  older: string | null;
}

export const nothingHeld = <T extends Item>(): Held<T> => ({ from: null, items: [], older: null });

/**
 * With a newest page (newest first). If more has come than one page holds, what was held would leave a gap: it is
 * read again when it is scrolled to.
 */
export function withNewest<T extends Item>(held: Held<T>, page: Page<T> | undefined): Held<T> {
  if (!page || page === held.from) return held;
  const newest = page.items.toReversed();
  const isNew = new Map(newest.map((item) => [item.id, item]));
  const overlaps = held.items.some(({ id }) => isNew.has(id));
  if (!overlaps) return { from: page, items: newest, older: page.nextCursor };
  const before = held.items.filter(({ id }) => !isNew.has(id));
  // All that was held is here: nothing older is known to be missing.
  return { from: page, items: [...before, ...newest], older: held.older };
}

/** With the page before the oldest one. Nothing changes if the list has begun anew since `cursor` was its end. */
export function withOlder<T extends Item>(held: Held<T>, cursor: string | null, page: Page<T>): Held<T> {
  if (held.older !== cursor) return held;
  const known = new Set(held.items.map(({ id }) => id));
  const older = page.items.toReversed().filter(({ id }) => !known.has(id));
  return { ...held, items: [...older, ...held.items], older: page.nextCursor };
}
