/**
 * Ctrl-C while work goes on in the service. The first one leaves the work alone and ends the command; on a terminal, a
 * second one within two seconds ends the work, too.
 */
import type { Cli } from './cli.ts';
import { interrupted } from './fault.ts';

const AGAIN_MS = 2_000;

interface Leaving {
  /** Says that the work goes on, and with which command to come back. */
  left: string;
  /** What a second Ctrl-C does, for people: `cancels the build`. */
  again: string;
  /** Takes no signal of the command, which may have aborted. */
  end(): Promise<void>;
}

/** What `watch` returns; undefined if the user left. `watch` has to reject with the signal's reason when it aborts. */
export async function untilLeft<T>(
  cli: Cli,
  watch: (signal: AbortSignal) => Promise<T>,
  { left, again, end }: Leaving,
): Promise<T | undefined> {
  const first = new AbortController();
  const second = new AbortController();
  // Pressed between the start of the work and now.
  if (cli.signal.aborted) first.abort(cli.signal.reason);
  const release = cli.onInterrupt(() => (first.signal.aborted ? second : first).abort(interrupted()));
  try {
    return await watch(first.signal);
  } catch (error) {
    if (!first.signal.aborted) throw error;
    const canPressAgain = cli.io.stderr.isTTY === true;
    cli.say(canPressAgain ? `\n${left}\nCtrl-C again within 2 s ${again}.` : left);
    if (canPressAgain) await abortedWithin(second.signal, AGAIN_MS);
  } finally {
    release();
  }
  if (second.signal.aborted) await end();
  return undefined;
}

const abortedWithin = (signal: AbortSignal, milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, signal.aborted ? 0 : milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
