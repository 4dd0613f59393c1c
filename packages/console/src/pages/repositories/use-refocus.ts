import { useEffect, useRef } from 'react';

/** Where the focus goes when it goes with this component after a write of its own. Returns what says that it was made. */
export function useRefocus(to: () => HTMLElement | null | undefined): () => void {
  const isOwn = useRef(false);
  useEffect(
    () => () => {
      if (isOwn.current && document.activeElement === document.body) to()?.focus();
    },
    [to],
  );
  return () => {
    isOwn.current = true;
  };
}

export const pageHeading = (): HTMLElement | null => document.querySelector('main h1');
