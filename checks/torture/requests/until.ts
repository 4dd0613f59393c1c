import { setTimeout as sleep } from 'node:timers/promises';
import type { Made } from './actors.ts';

const WAIT_MS = 60_000;

/** Asks until the answer is right; throws when that takes too long. */
export async function until(
  ask: () => Promise<Made>,
  isRight: (answer: Made) => boolean,
  what: string,
): Promise<Made> {
  for (const deadline = Date.now() + WAIT_MS; ; await sleep(20)) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    if (Date.now() > deadline)
      throw new Error(`${what} did not get there in time: ${JSON.stringify(answer).slice(0, 500)}`);
  }
}
