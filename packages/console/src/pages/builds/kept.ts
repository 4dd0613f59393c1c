/** What was typed last in a dialog, per user and app: it outlives a reload and an ended session. */
import { keep, read } from '../../ui/storage.ts';

/** Only texts are typed; what else is there counts for nothing. */
export function readKept<T extends Record<string, string>>(name: string): Partial<T> | null {
  const kept = read<unknown>(name);
  if (typeof kept !== 'object' || kept === null) return null;
  const texts = Object.entries(kept).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts) as Partial<T>;
}

export interface Place {
  kind: 'build' | 'preview';
  userId: string;
  appId: string;
  /** What the dialog begins with is kept apart, so that each begins with what it names. */
  from?: { id: string } | undefined;
}

export const keptName = ({ kind, userId, appId, from }: Place): string =>
  `${userId} ${kind} ${appId}${from ? ` ${from.id}` : ''}`;

/** It was sent: the next dialog of the same kind begins with it. */
export function settleKept(place: Place): void {
  const name = keptName(place);
  const kept = read<unknown>(name);
  if (!place.from || kept === null) return;
  keep(name, null);
  keep(keptName({ ...place, from: undefined }), kept);
}
