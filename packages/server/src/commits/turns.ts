const lastOf = new Map<string, Promise<unknown>>();

/** Does work of one key one at a time in this process, in order; also after work that failed. */
export async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = lastOf.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  lastOf.set(key, mine);
  return mine.finally(() => {
    if (lastOf.get(key) === mine) lastOf.delete(key);
  });
}
