/** Whether the service has become newer than this page: by its header, or because a part of the page is gone. */
import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let first: string | null = null;
let isOld = false;

function becomeOld(): void {
  if (isOld) return;
  isOld = true;
  for (const listener of listeners) listener();
}

export function noticeVersion(version: string | null): void {
  first ??= version;
  if (version !== null && version !== first) becomeOld();
}

// A part that is loaded later has another name after an upgrade.
window.addEventListener('vite:preloadError', becomeOld);

/** Whether a reload would show a newer console. */
export const useIsOld = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isOld,
  );
