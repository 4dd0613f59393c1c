/**
 * Keyboard shortcuts. Pages name theirs with `useKeys`; one listener finds the last one named. Single letters are off
 * in fields and dialogs, and off altogether if the user says so (WCAG 2.1.4).
 */
import { useEffect, useRef, useSyncExternalStore } from 'react';

export interface Binding {
  /** `j`, `g i`, `/`, `mod+k` (mod is ⌘ or Ctrl), `mod+Enter`. */
  keys: string;
  /** What it does, for the list of keys. */
  does: string;
  /** Missing where a part of the page listens to the keys itself: then they are only listed. */
  run?: () => void;
}

const KEPT = 'headrace:keys';
/** The second key of a pair follows within this. */
const PAIR_MS = 1500;

let bindings: Binding[] = [];
const listeners = new Set<() => void>();
let started: { key: string; at: number } | null = null;

const changed = () => {
  for (const listener of listeners) listener();
};

/** Names shortcuts while the component is shown. */
export function useKeys(own: Binding[]): void {
  const latest = useRef(own);
  useEffect(() => {
    latest.current = own;
  });
  const names = own.map(({ keys, does }) => `${keys}\t${does}`).join('\n');
  useEffect(() => {
    const mine = (names ? names.split('\n') : []).map((name, i): Binding => {
      const [keys, does] = name.split('\t') as [string, string];
      return { keys, does, run: () => latest.current[i]?.run?.() };
    });
    bindings = [...bindings, ...mine];
    changed();
    return () => {
      bindings = bindings.filter((binding) => !mine.includes(binding));
      changed();
    };
  }, [names]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** All shortcuts that work now; of those with the same keys, the last one named. */
export const useBindings = (): Binding[] => useSyncExternalStore(subscribe, () => bindings);

export const areLettersOn = (): boolean => localStorage.getItem(KEPT) !== 'off';
export function setLetters(on: boolean): void {
  localStorage.setItem(KEPT, on ? 'on' : 'off');
  changed();
}

/** Listens to the whole page. Returns the end of it. */
export function listenToKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    const name = nameOf(event);
    const isLetter = !name.startsWith('mod+') && name !== 'Escape';
    if (isLetter && (isTyping(event.target) || !areLettersOn() || event.altKey)) return;
    const pair = started && event.timeStamp - started.at < PAIR_MS ? `${started.key} ${name}` : null;
    started = null;
    const found = (pair !== null && find(pair)) || find(name);
    if (found) {
      event.preventDefault();
      found.run?.();
    } else if (bindings.some(({ keys }) => keys.startsWith(`${name} `)))
      started = { key: name, at: event.timeStamp };
  };
  window.addEventListener('keydown', onKey);
  return () => window.removeEventListener('keydown', onKey);
}

const find = (keys: string) => bindings.findLast((binding) => binding.keys === keys);
const nameOf = (event: KeyboardEvent) => (event.metaKey || event.ctrlKey ? `mod+${event.key}` : event.key);

/** In a field, a menu or a dialog, letters are text or belong to it. */
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.closest('input,textarea,select,[role=menu],[role=listbox],[role=dialog]') !== null);

/** `⌘K` on a Mac, else `Ctrl K`. */
export const keyLabel = (keys: string): string =>
  keys.replace(
    /^mod\+(.*)$/,
    (_, key: string) =>
      `${/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl '}${key.length === 1 ? key.toUpperCase() : key}`,
  );

/** Moves the focus among the rows of the page (`data-row`). */
export function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter(
    (row) => row.offsetParent !== null,
  );
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = rows[at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
