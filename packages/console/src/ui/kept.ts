/** State that a reload keeps, in this browser: what a person has typed and not sent. */
import { useCallback, useState } from 'react';

const PREFIX = 'headrace:kept:';

/** `name` has to be another one for each place, as a component's key. Setting `initial` itself forgets it. */
export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => read(name) ?? initial);
  const set = useCallback(
    (next: T) => {
      setValue(next);
      keep(name, next === initial ? null : next);
    },
    [name, initial],
  );
  return [value, set];
}

/** Null if nothing is kept. */
export function read<T>(name: string): T | null {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name) ?? 'null') as T | null;
  } catch {
    return null;
  }
}

export function keep(name: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Without storage, what is typed lasts as long as the page.
  }
}
