import { useEffect, useState } from 'react';

/** A pause in typing. */
const PAUSE_MS = 250;

/** What it is after a pause: nobody waits for what is found by the first letters of a word. */
export function useLater<T>(value: T): T {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return later;
}
