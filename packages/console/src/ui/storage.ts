/** This browser's storage, by names of `useKeptName`. It may be full, or switched off. */

const PREFIX = 'headrace:kept:';

/** Null if nothing is kept. `name` is that of `useKeptName`. */
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
