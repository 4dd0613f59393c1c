/** `headrace pr …`: a thread's pull requests. */
import type { Client, CreatePullRequestInput, PullRequest, PullRequestSummary } from '@headrace/client';
import { requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { directThreadNamed, rememberDirectThread } from '../core/ids.ts';
import { oneLine } from '../terminal/escape.ts';
import { statusColor } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { pullRequestNamed } from './named.ts';
import type { Asked } from './named.ts';
import { bodyTextOf, changesOf, printComments } from './pulls.ts';
import type { MergeOptions, PullChanges } from './pulls.ts';
import { standingOf } from './standing.ts';
import { STATUS_COLUMNS } from './statuses.ts';

const COLUMNS: readonly Column<PullRequestSummary>[] = [
  { header: 'NUMBER', value: ({ number }) => `#${number}`, whole: true },
  { header: 'TITLE', value: ({ title }) => title, color: () => 'bold' },
  { header: 'STATE', value: ({ state }) => state, color: ({ state }) => statusColor(state) },
  { header: 'BRANCH', value: ({ headRef, baseRef }) => `${headRef} → ${baseRef}` },
  { header: 'NOW', value: (pr) => standingOf(pr).why },
  { header: 'ID', value: ({ id }) => id, whole: true },
];

export async function listPullRequests(
  cli: Cli,
  { thread, limit }: { thread: string | undefined; limit: number | undefined },
): Promise<void> {
  const threadId = await directThreadNamed(cli, thread ?? '@last');
  await cli.list({
    member: 'pullRequests',
    page: (options) => cli.client.thread(threadId).pullRequests.list(options),
    columns: COLUMNS,
    empty: `The thread has no pull requests yet. → headrace pr create --thread ${threadId}`,
    limit,
  });
}

export async function showPullRequest(cli: Cli, asked: Asked): Promise<void> {
  const { threadId, id } = await pullRequestNamed(cli, asked);
  print(cli, await cli.client.thread(threadId).pullRequests.get(id, { signal: cli.signal }));
}

export function print(cli: Cli, pullRequest: PullRequest): void {
  rememberDirectThread(cli, pullRequest.threadId);
  cli.show({ pullRequest }, () => textOf(cli, pullRequest));
}

function textOf(cli: Cli, pullRequest: PullRequest): string {
  const { number, title, state, draft, headRef, baseRef, repoFullName, url, scmSummary } = pullRequest;
  const standing = standingOf(pullRequest);
  return cli.details([
    ['Number', `#${number}`],
    ['Title', title, 'bold'],
    ['State', draft ? `${state}, draft` : state, statusColor(state)],
    ['Now', standing.why],
    ['Next', standing.next],
    ['Repository', repoFullName],
    ['Branch', `${headRef} → ${baseRef}`],
    ['Commit', pullRequest.mergeCommitSha ?? pullRequest.headSha],
    ['Checks', checksText(pullRequest)],
    ['Open review threads', scmSummary?.unresolvedCount || undefined],
    ['Review loop', pullRequest.reviewLoop?.enabled ? pullRequest.reviewLoop.status : 'off'],
    ['Address', url],
    ['ID', pullRequest.id],
    ['Thread', pullRequest.threadId],
    ['Text', pullRequest.body || undefined],
  ]);
}

export function checksText({ scmSummary }: PullRequestSummary): string {
  if (!scmSummary) return 'not read yet';
  const { total, succeeded, failing, running } = scmSummary.checks;
  if (!scmSummary.checksAvailable) return 'the credential may not see them';
  if (total === 0) return 'none';
  const counts = [
    [succeeded, 'succeeded'],
    [failing, 'failing'],
    [running, 'running'],
  ] as const;
  return counts.flatMap(([count, word]) => (count > 0 ? `${count} ${word}` : [])).join(', ');
}

interface NewPullRequest {
  thread: string | undefined;
  title: string | undefined;
  body: string | undefined;
  'body-file': string | undefined;
  base: string | undefined;
  draft: boolean;
  adopt: number | undefined;
  loop: boolean;
  'auto-merge': boolean;
  'comment-on-issue': boolean;
}

export async function createPullRequest(cli: Cli, given: NewPullRequest): Promise<void> {
  const { title, base, draft, adopt: number, loop, 'auto-merge': autoMerge } = given;
  const body: CreatePullRequestInput = {
    title,
    base,
    number,
    ...(draft && { draft }),
    ...((loop || autoMerge) && { reviewLoop: { enabled: true, ...(autoMerge && { autoMerge }) } }),
    ...(given['comment-on-issue'] && { commentOnIssue: true }),
    ...(await bodyTextOf(cli, given)),
  };
  const threadId = await directThreadNamed(cli, given.thread ?? '@last');
  const about = JSON.stringify([threadId, body]);
  print(
    cli,
    await cli.write(
      (client) => client.thread(threadId).pullRequests.create(body, { signal: cli.signal }),
      about,
    ),
  );
}

type PullRequestCalls = ReturnType<Client['thread']>['pullRequests'];

/** Writes to a pull request of a thread. `about`: what the write depends on besides the command line. */
async function change(
  cli: Cli,
  { threadId, id }: PullRequestSummary,
  write: (calls: PullRequestCalls, id: string) => Promise<PullRequest>,
  about: unknown = null,
): Promise<PullRequest> {
  return cli.write(
    (client) => write(client.thread(threadId).pullRequests, id),
    JSON.stringify([threadId, id, about]),
  );
}

type Changes = PullChanges & { 'auto-push': 'on' | 'off' | undefined };

export async function updatePullRequest(cli: Cli, asked: Asked, given: Changes): Promise<void> {
  const autoPush = given['auto-push'];
  const body = requireChange({
    ...(await changesOf(cli, given)),
    ...(autoPush !== undefined && { autoPush: autoPush === 'on' }),
  });
  const found = await pullRequestNamed(cli, asked);
  print(cli, await change(cli, found, (calls, id) => calls.update(id, body, { signal: cli.signal }), body));
}

export async function syncPullRequest(
  cli: Cli,
  asked: Asked,
  take: 'branch' | 'thread' | undefined,
): Promise<void> {
  const found = await pullRequestNamed(cli, asked);
  print(cli, await change(cli, found, (calls, id) => calls.sync(id, { take }, { signal: cli.signal })));
}

export async function updateBranch(cli: Cli, asked: Asked, manual: boolean): Promise<void> {
  const found = await pullRequestNamed(cli, asked);
  const body = { conflictResolution: manual ? ('manual' as const) : ('agent' as const) };
  print(cli, await change(cli, found, (calls, id) => calls.updateBranch(id, body, { signal: cli.signal })));
  cli.say('The base branch is being brought in. → headrace pr watch');
}

export async function mergePullRequest(cli: Cli, asked: Asked, options: MergeOptions): Promise<Exit> {
  const { method, title, message } = options;
  const seen = await pullRequestNamed(cli, asked);
  const { number, headSha: expectedHeadSha } = seen;
  if (seen.state === 'merged') {
    cli.say(`#${number} is merged already.`);
    await showPullRequest(cli, { text: seen.id, thread: seen.threadId });
    return EXIT.done;
  }
  await cli.requireYes(() => `Merge #${number} “${oneLine(seen.title)}” into ${oneLine(seen.baseRef)}?`);
  const body = { method, title, message, expectedHeadSha };
  const merged = await change(
    cli,
    seen,
    (calls, id) => calls.merge(id, body, { signal: cli.signal }),
    expectedHeadSha,
  );
  print(cli, merged);
  if (merged.state !== 'merged') cli.say('It is in the merge queue of the host. → headrace pr watch');
  return EXIT.done;
}

/** Fails while a check fails, so that a script can branch on it. */
export async function showChecks(cli: Cli, asked: Asked): Promise<Exit> {
  const found = await pullRequestNamed(cli, asked);
  const { threadId, id, headSha } = found;
  const pullRequest = await cli.client.thread(threadId).pullRequests.get(id, { signal: cli.signal });
  const repositoryId = await hostedRepository(cli, threadId);
  const statuses =
    repositoryId === null
      ? null
      : (
          await cli.client.scm.listStatuses(repositoryId, headSha, {
            latest: true,
            limit: 200,
            signal: cli.signal,
          })
        ).items;
  cli.show({ pullRequest, statuses }, () => {
    const table = statuses?.length ? cli.table(statuses, STATUS_COLUMNS) : undefined;
    return [checksText(pullRequest), ...(table === undefined ? [] : [table])].join('\n');
  });
  return pullRequest.scmSummary?.checks.failing ? EXIT.failed : EXIT.done;
}

export async function listPullRequestComments(cli: Cli, asked: Asked): Promise<void> {
  const { threadId, number } = await pullRequestNamed(cli, asked);
  await printComments(cli, [await repositoryOf(cli, threadId), number]);
}

/** Null for a repository of another host, which shows its checks itself. */
async function hostedRepository(cli: Cli, threadId: string): Promise<string | null> {
  const id = await repositoryOf(cli, threadId);
  const { provider } = await cli.client.scm.getRepository(id, { signal: cli.signal });
  return provider === 'local' ? id : null;
}

/** Of the project of a thread with a pull request. */
async function repositoryOf(cli: Cli, threadId: string): Promise<string> {
  const { projectId } = await cli.client.thread(threadId).get({ signal: cli.signal });
  const { repositoryId } = await cli.client.projects.get(projectId, { signal: cli.signal });
  return repositoryId!;
}
