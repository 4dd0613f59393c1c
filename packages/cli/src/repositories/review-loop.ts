/** `headrace pr loop`: the review loop of a pull request, in words. */
import type { PullRequest, Run } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { statusColor } from '../terminal/style.ts';
import { ago } from '../terminal/times.ts';
import { pullRequestNamed } from './named.ts';
import type { Asked } from './named.ts';
import { print } from './pull-requests.ts';
import { standingOf } from './standing.ts';

const ACTIONS = ['show', 'on', 'off'];

interface LoopOptions {
  'auto-merge': 'on' | 'off' | undefined;
}

export async function reviewLoop(
  cli: Cli,
  action: string,
  asked: Asked,
  { 'auto-merge': autoMerge }: LoopOptions,
): Promise<void> {
  if (!ACTIONS.includes(action))
    throw usage(`ACTION is one of ${ACTIONS.join(', ')}, not ${JSON.stringify(action)}.`);
  if (action === 'show' && autoMerge !== undefined)
    throw usage('--auto-merge needs an action: headrace pr loop on --auto-merge on');
  const { threadId, id } = await pullRequestNamed(cli, asked);
  if (action === 'show')
    return show(cli, await cli.client.thread(threadId).pullRequests.get(id, { signal: cli.signal }));
  const body = {
    enabled: action === 'on',
    ...(autoMerge !== undefined && { autoMerge: autoMerge === 'on' }),
  };
  const changed = await cli.write(
    (client) => client.thread(threadId).pullRequests.updateReviewLoop(id, body, { signal: cli.signal }),
    JSON.stringify([threadId, id]),
  );
  await show(cli, changed);
  if (action === 'on') cli.say('→ headrace pr watch');
  else
    cli.say(
      `A pass that runs goes on, and its result is pushed: headrace stop ${threadId} ends it, headrace pr update --auto-push off leaves the branch as it is.`,
    );
}

const DISABLED_BY = {
  user: 'off: a person switched it off',
  system: 'off: the pull request, its thread or its installation has ended',
  transferred: 'off: another thread has taken over the pull request',
};

async function show(cli: Cli, pullRequest: PullRequest): Promise<void> {
  const { reviewLoop: loop, threadId } = pullRequest;
  if (cli.isJson) return print(cli, pullRequest);
  if (!loop) return cli.print('off: it has never been on. → headrace pr loop on');
  const lastPass =
    loop.lastFixRunId === null
      ? null
      : await cli.client.thread(threadId).runs.get(loop.lastFixRunId, { signal: cli.signal });
  const standing = standingOf(pullRequest);
  cli.print(
    cli.details([
      ['Review loop', loop.status, statusColor(loop.status)],
      ['Now', loop.enabled ? standing.why : loop.disabledBy && DISABLED_BY[loop.disabledBy]],
      ['Next', loop.enabled ? standing.next : undefined],
      ['Merges by itself', loop.autoMerge],
      ['Passes in a row', loop.passCount],
      ['Last pass', lastPass ? passText(lastPass) : undefined],
      ['Commit', loop.headSha],
      ['Error', loop.lastErrorMessage ?? undefined],
      ['Looked', loop.lastObservedAt ? ago(loop.lastObservedAt) : undefined],
      ['Acts at the latest', loop.waitUntil ? ago(loop.waitUntil) : undefined],
    ]),
  );
}

const passText = ({ id, status, error }: Run): string =>
  `${status}${error ? `: ${error.message}` : ''} (${id})`;
