/**
 * Runs at most `count` pieces of work at a time. Owners whose work waits take turns, so that many searches of one
 * organization hold up those of another by one piece at most.
 */
export function takingTurns(count: number): <T>(owner: string, work: () => Promise<T>) => Promise<T> {
  const waiting = new Map<string, (() => void)[]>();
  let free = count;
  const leave = () => {
    const [next] = waiting;
    if (!next) return void free++;
    const [owner, queue] = next;
    // To the end of the line of owners.
    waiting.delete(owner);
    const resume = queue.shift()!;
    if (queue.length > 0) waiting.set(owner, queue);
    resume();
  };
  return async (owner, work) => {
    if (free > 0) free--;
    else
      await new Promise<void>((resolve) => {
        const queue = waiting.get(owner);
        if (queue) queue.push(resolve);
        else waiting.set(owner, [resolve]);
      });
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
