// Records are frozen: a handler that changed one in place would bypass the log that a
// transaction rolls back by.

export function createCollection(name, prefix, onWrite) {
  const records = new Map();
  let last = 0;

  function put(id, record) {
    onWrite(name, id, records.get(id));
    if (record === undefined) records.delete(id);
    else records.set(id, Object.freeze(record));
    return record;
  }

  return {
    get: (id) => records.get(id),
    all: () => [...records.values()],
    where: (test) => [...records.values()].filter(test),
    count: () => records.size,

    /** Adds a record; without an id it gets the next one, which is never used twice. */
    insert(fields) {
      const id = fields.id ?? `${prefix}-${last + 1}`;
      if (records.has(id)) throw new Error(`${name} ${id} exists`);
      last = Math.max(last, Number(id.split('-').at(-1)) || 0);
      return put(id, { ...fields, id });
    },

    update(id, patch) {
      const record = records.get(id);
      if (!record) throw new Error(`${name} ${id} does not exist`);
      return put(id, { ...record, ...patch, id });
    },

    remove: (id) => put(id, undefined),

    /** Puts back what `onWrite` reported; used by a rollback only. */
    restore(id, before) {
      if (before === undefined) records.delete(id);
      else records.set(id, before);
    },
  };
}
