/** A build's or setup's log, as it grows. */
import type { CallOptions } from '@headrace/client';
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
  read(
    query: { offset?: number; waitSeconds?: number } & CallOptions,
  ): Promise<{ text: string; nextOffset: number; ended: boolean }>;
  signal: AbortSignal;
}

/** The log of a build, or of a setup. */
export const logOf = (
  { client }: Pick<Cli, 'client'>,
  { appId, id, signal }: { appId: string; id: string; signal: AbortSignal },
): LogPlace => ({
  read: (query) =>
    id.startsWith('set_') ? client.setups.logs(appId, id, query) : client.builds.logs(appId, id, query),
  signal,
});

/** The parts of the log in order, each byte once, until what it is of has ended. */
export async function* logParts(cli: Cli, { read, signal }: LogPlace): AsyncGenerator<string> {
  const away = new Away(cli);
  for (let offset = 0; ;) {
    const from = offset;
    const since = Date.now();
    const { text, nextOffset, ended } = await away.read(
      () => read({ offset: from, waitSeconds: WAIT_SECONDS, signal, ...ATTEMPT }),
      signal,
    );
    if (text !== '') yield text;
    if (ended) return;
    if (text === '' && Date.now() - since < PAUSE_MS) await pause(PAUSE_MS, signal);
    offset = nextOffset;
  }
}

/** Prints the log until what it is of has ended: its exact bytes to a pipe, whole lines to a terminal. */
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

/** Prints the log of a build or setup as far as it is, or with `follow` until its end. */
export async function printLog(
  cli: Cli,
  { appId, id, follow }: { appId: string; id: string; follow: boolean },
): Promise<void> {
  const place = logOf(cli, { appId, id, signal: cli.signal });
  if (follow && cli.globals.jsonl) {
    for await (const text of logParts(cli, place)) cli.printLine({ text });
    return;
  }
  if (follow && !cli.isJson) return followLog(cli, place);
  const logs = await place.read({ signal: cli.signal });
  if (cli.isJson) return cli.show({ logs }, () => '');
  await cli.printPart(logs.text);
  if (cli.isTerminal && logs.text !== '' && !logs.text.endsWith('\n')) cli.print('');
  if (logs.ended) return;
  const [what, command] = id.startsWith('set_') ? ['setup', 'setup logs'] : ['build', 'logs'];
  cli.say(cli.paintTalk('dim', `The ${what} goes on: headrace ${command} -f ${id}`));
}
