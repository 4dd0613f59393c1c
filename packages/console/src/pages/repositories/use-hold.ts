import { useEffect } from 'react';

/** Tells the dialog around a form to stay: closed while a secret is made or shown, it would lose it. */
export function useHold(onHold: (isHeld: boolean) => void, isHeld: boolean): void {
  useEffect(() => {
    onHold(isHeld);
    return () => onHold(false);
  }, [onHold, isHeld]);
}
