const WINDOW_MS = 15 * 60 * 1000;
const MAX_FAILURES = 8;
const MAX_KEYS = 2000;

/** Counts failed sign-ins by address of the account, so that a password cannot be guessed in bulk. */
export function createThrottle(now = Date.now) {
  const failures = new Map();

  function recent(key) {
    return (failures.get(key) ?? []).filter((time) => time > now() - WINDOW_MS);
  }

  return {
    blocked: (key) => recent(key).length >= MAX_FAILURES,
    failed(key) {
      if (failures.size >= MAX_KEYS && !failures.has(key)) failures.delete(failures.keys().next().value);
      failures.set(key, [...recent(key), now()]);
    },
    succeeded: (key) => failures.delete(key),
  };
}
