/** A build's log, as it grows. */
import type { Cli } from '../core/cli.ts';
import { Away, pause } from '../core/away.ts';

const WAIT_SECONDS = 25;
/** The service holds the read while there is nothing new. */
const ATTEMPT = { attemptTimeoutMs: 35_000, timeoutMs: 40_000 };
/** The pause after a read that the service did not hold. */
export const PAUSE_MS = 250;
/** A line that is longer is printed in parts. */
const LONGEST_LINE = 64 * 1024;

export interface LogPlace {
  appId: string;
  buildId: string;
  signal: AbortSignal;
}

/** The parts of the log in order, each byte once, until the build has ended. */
export async function* logParts(cli: Cli, { appId, buildId, signal }: LogPlace): AsyncGenerator<string> {
  const away = new Away(cli);
  for (let offset = 0; ;) {
    const from = offset;
    const since = Date.now();
    const { text, nextOffset, ended } = await away.read(
      () =>
        cli.client.builds.logs(appId, buildId, {
          offset: from,
          waitSeconds: WAIT_SECONDS,
          signal,
          ...ATTEMPT,
        }),
      signal,
    );
    if (text !== '') yield text;
    if (ended) return;
    if (text === '' && Date.now() - since < PAUSE_MS) await pause(PAUSE_MS, signal);
    offset = nextOffset;
  }
}

/** Prints the log until the build has ended: its exact bytes to a pipe, whole lines to a terminal. */
export async function followLog(cli: Cli, place: LogPlace): Promise<void> {
  let rest = '';
  for await (const text of logParts(cli, place)) {
    if (!cli.isTerminal) {
      await cli.printPart(text, place.signal);
      continue;
    }
    rest += text;
    const end = rest.length > LONGEST_LINE ? rest.length : rest.lastIndexOf('\n') + 1;
    if (end > 0) await cli.printPart(rest.slice(0, end), place.signal);
    rest = rest.slice(end);
  }
  if (rest !== '') await cli.printPart(`${rest}\n`, place.signal);
}
