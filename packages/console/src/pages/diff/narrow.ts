import { useSyncExternalStore } from 'react';

/** Two columns of code do not fit below this. */
const query = '(max-width: 839px)';

/** Whether the window is too narrow for two columns. */
export const useNarrow = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
