/**
 * The state of the page: one frozen object that is replaced as a whole.
 * Listeners run after each change, in the order in which they were added.
 */
export function createState(initial) {
  let current = Object.freeze({ ...initial });
  const listeners = new Set();
  return {
    get: () => current,
    set(patch) {
      current = Object.freeze({ ...current, ...patch });
      for (const listener of listeners) listener(current);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
