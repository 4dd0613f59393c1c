/** State that a reload keeps, in this browser: what a person has typed and not sent. */
import { useCallback, useRef, useState } from 'react';
import { useSession } from '../api/session.ts';
import { keep, read } from './storage.ts';

/** The name of something kept for this user in this organization: others use the same browser. */
export function useKeptName(name: string): string {
  const { user, activeOrganizationId } = useSession();
  return `${user.id} ${activeOrganizationId ?? '-'} ${name}`;
}

/**
 * `place` has to be another one for each place, as a component's key. Setting `initial` itself forgets it. A function
 * gets what is typed by now.
 */
export function useKept<T>(place: string, initial: T): [T, (value: T | ((now: T) => T)) => void] {
  const name = useKeptName(place);
  const [value, setValue] = useState<T>(() => read(name) ?? initial);
  const latest = useRef(value);
  const set = useCallback(
    (next: T | ((now: T) => T)) => {
      latest.current = typeof next === 'function' ? (next as (now: T) => T)(latest.current) : next;
      setValue(latest.current);
      keep(name, latest.current === initial ? null : latest.current);
    },
    [name, initial],
  );
  return [value, set];
}
