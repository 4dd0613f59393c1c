/** What the user has taken off the inbox, on this browser. */
import { useCallback, useState } from 'react';

const KEPT = 'headrace:dismissed';
/** Older ones are no longer in the lists. */
const MOST = 500;

export function useDismissed(): { dismissed: ReadonlySet<string>; dismiss: (id: string) => void } {
  const [dismissed, setDismissed] = useState(() => new Set(read()));
  const dismiss = useCallback((id: string) => {
    // Another tab may have added some.
    const ids = [...read().filter((other) => other !== id), id].slice(-MOST);
    localStorage.setItem(KEPT, JSON.stringify(ids));
    setDismissed(new Set(ids));
  }, []);
  return { dismissed, dismiss };
}

function read(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? '[]');
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
