/**
 * Runs at most `count` pieces of work at a time, and `ofOne` of one owner. Owners whose work waits take turns, so
 * that many searches of one organization hold up those of another by one piece at most.
 */
export function takingTurns(
  count: number,
  ofOne = count,
): <T>(owner: string, work: () => Promise<T>) => Promise<T> {
  const waiting = new Map<string, (() => void)[]>();
  const working = new Map<string, number>();
  let free = count;
  const mayBegin = (owner: string) => (working.get(owner) ?? 0) < ofOne;
  const begin = (owner: string) => {
    free--;
    working.set(owner, (working.get(owner) ?? 0) + 1);
  };
  const leave = (leaving: string) => {
    free++;
    const left = working.get(leaving)! - 1;
    if (left > 0) working.set(leaving, left);
    else working.delete(leaving);
    for (const [owner, queue] of waiting) {
      if (!mayBegin(owner)) continue;
      // To the end of the line of owners.
      waiting.delete(owner);
      const resume = queue.shift()!;
      if (queue.length > 0) waiting.set(owner, queue);
      begin(owner);
      resume();
      return;
    }
  };
  return async (owner, work) => {
    if (free > 0 && mayBegin(owner)) begin(owner);
    else
      await new Promise<void>((resolve) => {
        const queue = waiting.get(owner);
        if (queue) queue.push(resolve);
        else waiting.set(owner, [resolve]);
      });
    try {
      return await work();
    } finally {
      leave(owner);
    }
  };
}
