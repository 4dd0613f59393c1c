import { useSyncExternalStore } from 'react';

/** The breakpoints `sm` and `lg` of look.css, and the lanes that there is room for from there on. */
const ROOM = [
  [window.matchMedia('(min-width: 1120px)'), 12],
  [window.matchMedia('(min-width: 560px)'), 6],
] as const;
const LEAST = 3;

const subscribe = (listener: () => void) => {
  for (const [query] of ROOM) query.addEventListener('change', listener);
  return () => {
    for (const [query] of ROOM) query.removeEventListener('change', listener);
  };
};

/** How many lanes the window has room for. */
export const useRoom = (): number =>
  useSyncExternalStore(subscribe, () => ROOM.find(([query]) => query.matches)?.[1] ?? LEAST);
