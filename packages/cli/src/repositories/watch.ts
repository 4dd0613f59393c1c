/** `headrace pr watch`: a line for each change of what a pull request waits for, until nothing moves it any more. */
import type { PullRequest } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { Fault, interrupted } from '../core/fault.ts';
import { oneLine } from '../terminal/escape.ts';
import { pullRequestNamed } from './named.ts';
import type { Asked } from './named.ts';
import { standingOf } from './standing.ts';
import type { Standing } from './standing.ts';

/** The longest wait of one read. */
const WAIT_SECONDS = 30;

const EXITS: Readonly<Record<Standing['kind'], Exit>> = {
  merged: EXIT.done,
  ready: EXIT.done,
  closed: EXIT.failed,
  blocked: EXIT.failed,
  waiting: EXIT.timeout,
};

export async function watchPullRequest(cli: Cli, asked: Asked, timeoutMs: number | undefined): Promise<Exit> {
  const found = await pullRequestNamed(cli, asked);
  const detach = new AbortController();
  const listenAgain = cli.onInterrupt(() => detach.abort());
  try {
    const deadline = timeoutMs === undefined ? Infinity : Date.now() + timeoutMs;
    let printed: string | undefined;
    for await (const pr of versions(cli, found, { deadline, signal: detach.signal })) {
      const standing = standingOf(pr);
      if (cli.globals.jsonl) cli.printLine(pr);
      else if (!cli.isJson && standing.why !== printed) printLine(cli, pr, standing);
      printed = standing.why;
      if (standing.kind !== 'waiting') return ended(cli, pr, standing);
    }
    throw new Fault(EXIT.timeout, `#${found.number} is not done yet: ${printed ?? ''}.`, {
      hint: 'It goes on without you: headrace pr watch',
    });
  } catch (error) {
    if (detach.signal.aborted) throw interrupted('It goes on without you: headrace pr watch');
    throw error;
  } finally {
    listenAgain();
  }
}

interface Following {
  deadline: number;
  signal: AbortSignal;
}

/** The pull request now, then after each change; ends at the deadline. */
async function* versions(
  cli: Cli,
  { threadId, id }: Pick<PullRequest, 'threadId' | 'id'>,
  { deadline, signal }: Following,
): AsyncGenerator<PullRequest> {
  const calls = cli.client.thread(threadId).pullRequests;
  let last = await calls.get(id, { signal });
  yield last;
  for (;;) {
    const left = deadline - Date.now();
    if (left <= 0) return;
    const waitSeconds = Math.min(WAIT_SECONDS, Math.ceil(left / 1000));
    const pr = await calls.get(id, { afterVersion: last.version, waitSeconds, signal });
    if (pr.version !== last.version) yield (last = pr);
  }
}

const printLine = (cli: Cli, { number }: PullRequest, { why }: Standing): void =>
  cli.print(`${cli.paint('dim', new Date().toTimeString().slice(0, 8))}  #${number}  ${oneLine(why)}`);

function ended(cli: Cli, pullRequest: PullRequest, { kind, next, isConflict }: Standing): Exit {
  if (cli.globals.json) cli.show({ pullRequest }, () => '');
  if (next !== undefined) cli.say(`  ${cli.paintTalk('dim', '→')} ${next}`);
  return isConflict ? EXIT.conflict : EXITS[kind];
}
