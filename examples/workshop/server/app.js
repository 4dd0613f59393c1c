import { toDay } from '../shared/dates.js';
import { createPasswords } from './auth/passwords.js';
import { createSessions } from './auth/sessions.js';
import { createThrottle } from './auth/throttle.js';
import { fixtures } from './store/fixtures.js';
import { createSaver, readData } from './store/json-file.js';
import { createStore } from './store/memory-store.js';

/**
 * Everything that handlers need, from a data file. A first start fills the file with the
 * demonstration library.
 * @param {{dataFile: string, demoPassword: string, passwordCost?: number, now?: () => number}} options
 */
export async function openApp({ dataFile, demoPassword, passwordCost, now = Date.now, log = console.error }) {
  const today = () => toDay(new Date(now()));
  const passwords = createPasswords(passwordCost);
  const saved = await readData(dataFile);
  const data = saved ?? fixtures(today(), passwords.hash(demoPassword));
  const store = createStore(data, { onCommit: () => saver.changed() });
  const saver = createSaver(dataFile, store.dump, log);
  if (!saved) saver.changed();
  const ctx = { store, today, passwords, sessions: createSessions(now), throttle: createThrottle(now), log };
  return { ctx, settled: saver.settled };
}
