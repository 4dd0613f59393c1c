/** Whether the service has become newer than this page: by its header, or because a part of the page is gone. */
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let first: string | null = null;
let isOld = false;

/** Offers a reload. */
export function becomeOld(): void {
  if (isOld) return;
  isOld = true;
  for (const listener of listeners) listener();
}

export function noticeVersion(version: string | null): void {
  first ??= version;
  if (version !== null && version !== first) becomeOld();
}

/** The address in what a browser says of a part that it could not load; null if it names none. */
export const addressIn = (message: string): string | null =>
  /(?:https?:\/)?\/\S+\.(?:js|css)\b/.exec(message)?.[0] ?? null;

/** Whether a reload would show a newer console. */
export const useIsOld = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isOld,
  );
