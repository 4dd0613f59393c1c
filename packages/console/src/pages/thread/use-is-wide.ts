import { useSyncExternalStore } from 'react';

// As the breakpoint `lg`.
const wide = '(min-width: 1120px)';

const subscribe = (listener: () => void) => {
  const query = matchMedia(wide);
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
};

/** Whether there is room for a panel beside the content. */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => matchMedia(wide).matches);
