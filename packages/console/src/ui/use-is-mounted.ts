import { useEffect, useRef } from 'react';
import type { RefObject } from 'react';

/** For what ends later: whether the component is still there. */
export function useIsMounted(): Readonly<RefObject<boolean>> {
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  return isMounted;
}
