import { createCollection } from './collection.js';

const PREFIXES = {
  categories: 'c',
  tools: 't',
  members: 'm',
  loans: 'l',
  reservations: 'r',
  waiting: 'w',
  fines: 'f',
  week: 'day',
  closures: 'x',
};

export const COLLECTIONS = Object.keys(PREFIXES);

/**
 * All records in memory, by collection.
 * @param {Record<string, object[]>} data initial records by collection
 * @param {{onCommit?: () => void}} options called after each transaction that wrote
 */
export function createStore(data = {}, { onCommit = () => {} } = {}) {
  let undo = null;
  const store = {};
  const onWrite = (name, id, before) => {
    if (!undo) throw new Error(`write to ${name} outside a transaction`);
    undo.push([name, id, before]);
  };

  /** Runs `work`; when it throws, every write in it is undone. Inner calls join the outer one. */
  store.transaction = (work) => {
    if (undo) return work();
    undo = [];
    try {
      const result = work();
      const wrote = undo.length > 0;
      undo = null;
      if (wrote) onCommit();
      return result;
    } catch (error) {
      for (const [name, id, before] of (undo ?? []).reverse()) store[name].restore(id, before);
      throw error;
    } finally {
      undo = null;
    }
  };

  /** A plain copy of everything, ready for JSON. */
  store.dump = () => Object.fromEntries(COLLECTIONS.map((name) => [name, store[name].all()]));

  for (const name of COLLECTIONS) store[name] = createCollection(name, PREFIXES[name], onWrite);
  // Loading is no commit: what was just read needs no writing back.
  undo = [];
  for (const name of COLLECTIONS) for (const record of data[name] ?? []) store[name].insert(record);
  undo = null;
  return store;
}
