/** Find and go: pages, apps, threads, anything by its id. */
import { lazy, useEffect, useState } from 'react';
import type { Dispatch, SetStateAction } from 'react';
import { Part, usePreload } from './part.tsx';
import { useSignedOut } from './session.tsx';

const load = () => import('./finder.tsx');
const Finder = lazy(async () => ({ default: (await load()).Finder }));

export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  usePreload(load);
  return isOpen ? <Opened onClose={onClose} /> : null;
}

function Opened({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  useTypedAhead(!useSignedOut(), setTyped, onClose);
  return (
    <Part isOver onDismiss={onClose}>
      <Finder typed={typed} onType={setTyped} onClose={onClose} />
    </Part>
  );
}

/**
 * What is typed before the field has the focus (`data-palette`) is text for it all the same: the page's shortcuts would
 * take it, and move the focus away.
 */
function useTypedAhead(isOn: boolean, setTyped: Dispatch<SetStateAction<string>>, onClose: () => void): void {
  useEffect(() => {
    if (!isOn) return;
    const end = new AbortController();
    const options = { capture: true, signal: end.signal };
    const onKey = (event: KeyboardEvent) => {
      const { key, target, altKey, ctrlKey, metaKey, isComposing } = event;
      if (altKey || ctrlKey || metaKey || isComposing || key === 'Shift' || key === 'Tab') return;
      // The palette could not be loaded.
      if (target instanceof Element && target.closest('[role=alert]')) return;
      event.preventDefault();
      event.stopPropagation();
      if (key === 'Escape') onClose();
      else if (key === 'Backspace') setTyped((text) => text.slice(0, -1));
      else if (key.length === 1) setTyped((text) => text + key);
    };
    const onFocus = ({ target }: FocusEvent) => {
      if (target instanceof Element && target.matches('[data-palette]')) end.abort();
    };
    window.addEventListener('keydown', onKey, options);
    window.addEventListener('focusin', onFocus, options);
    return () => end.abort();
  }, [isOn, setTyped, onClose]);
}
