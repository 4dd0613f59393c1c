/** `headrace pulls …` and `headrace comments …`: pull requests of a repository that the service hosts, for people and CI. */
import type { Comment, ScmPullRequest, ScmUpdatePullRequestInput } from '@headrace/client';
import { requireChange } from '../core/body.ts';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { atMostOne, readText } from '../core/input.ts';
import { oneLine, shown } from '../terminal/escape.ts';
import { statusColor } from '../terminal/style.ts';
import type { Column } from '../terminal/table.ts';
import { ago } from '../terminal/times.ts';
import { repositoryNamed } from './named.ts';

const COLUMNS: readonly Column<ScmPullRequest>[] = [
  { header: 'NUMBER', value: ({ number }) => `#${number}`, whole: true },
  { header: 'TITLE', value: ({ title }) => title, color: () => 'bold' },
  { header: 'STATE', value: ({ state }) => state, color: ({ state }) => statusColor(state) },
  { header: 'BRANCH', value: ({ headRef, baseRef }) => `${headRef} → ${baseRef}` },
  { header: 'AUTHOR', value: ({ author }) => author },
  { header: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
];

interface Filters {
  limit: number | undefined;
  state: ScmPullRequest['state'] | undefined;
}

export async function listPulls(cli: Cli, repository: string, { limit, state }: Filters): Promise<void> {
  const id = await repositoryNamed(cli, repository);
  await cli.list({
    member: 'pullRequests',
    page: (options) => cli.client.scm.listPullRequests(id, { ...options, state }),
    columns: COLUMNS,
    filters: { state },
    empty: 'The repository has no pull requests yet. → headrace pulls create REPOSITORY BRANCH TITLE',
    limit,
  });
}

/** A pull request as the command line names it: repository and number. */
type Place = readonly [repository: string, number: string];

async function placeOf(cli: Cli, [repository, number]: Place): Promise<[id: string, number: number]> {
  const digits = /^#?(\d{1,9})$/.exec(number)?.[1];
  if (digits === undefined) throw usage(`${JSON.stringify(number)} is no number of a pull request.`);
  return [await repositoryNamed(cli, repository), Number(digits)];
}

export async function showPull(cli: Cli, place: Place): Promise<void> {
  print(cli, await cli.client.scm.getPullRequest(...(await placeOf(cli, place)), { signal: cli.signal }));
}

const print = (cli: Cli, pullRequest: ScmPullRequest): void =>
  cli.show({ pullRequest }, () => {
    const { number, title, state, draft, headRef, baseRef, headSha, mergeable, author, threadId } =
      pullRequest;
    return cli.details([
      ['Number', `#${number}`],
      ['Title', title, 'bold'],
      ['State', draft ? `${state}, draft` : state, statusColor(state)],
      ['Branch', `${headRef} → ${baseRef}`],
      ['Commit', headSha],
      ['Mergeable', state === 'open' ? mergeable : undefined],
      ['Merged as', pullRequest.mergeCommitSha ?? undefined],
      ['Author', author],
      ['Thread', threadId ?? undefined],
      ['Text', pullRequest.body || undefined],
    ]);
  });

interface Texts {
  body: string | undefined;
  'body-file': string | undefined;
}

/** Text from an option, or from a file. */
export async function bodyTextOf(cli: Cli, { body, 'body-file': file }: Texts): Promise<{ body?: string }> {
  atMostOne({ body, 'body-file': file }, ['body', 'body-file']);
  const text = file === undefined ? body : await readText(cli, file);
  return text === undefined ? {} : { body: text };
}

export async function createPull(
  cli: Cli,
  [repository, headRef, title]: [string, string, string],
  { base: baseRef, draft, ...texts }: Texts & { base: string | undefined; draft: boolean },
): Promise<void> {
  const body = { title, headRef, baseRef, draft, ...(await bodyTextOf(cli, texts)) };
  const id = await repositoryNamed(cli, repository);
  const about = JSON.stringify([id, body]);
  print(
    cli,
    await cli.write((client) => client.scm.createPullRequest(id, body, { signal: cli.signal }), about),
  );
}

/** What `update` changes of any pull request. */
export interface PullChanges extends Texts {
  title: string | undefined;
  base: string | undefined;
  draft: boolean;
  ready: boolean;
  close: boolean;
  reopen: boolean;
}

export async function changesOf(cli: Cli, given: PullChanges): Promise<ScmUpdatePullRequestInput> {
  const { title, base, draft, ready, close, reopen } = given;
  atMostOne(given, ['draft', 'ready']);
  atMostOne(given, ['close', 'reopen']);
  return {
    ...(title !== undefined && { title }),
    ...(base !== undefined && { base }),
    ...((draft || ready) && { draft }),
    ...((close || reopen) && { state: close ? 'closed' : 'open' }),
    ...(await bodyTextOf(cli, given)),
  };
}

export async function updatePull(cli: Cli, place: Place, given: PullChanges): Promise<void> {
  const body = requireChange(await changesOf(cli, given));
  const [id, number] = await placeOf(cli, place);
  const about = JSON.stringify([id, body]);
  print(
    cli,
    await cli.write(
      (client) => client.scm.updatePullRequest(id, number, body, { signal: cli.signal }),
      about,
    ),
  );
}

/** How a merge is made. */
export interface MergeOptions {
  method: 'merge' | 'squash' | 'rebase' | undefined;
  title: string | undefined;
  message: string | undefined;
}

export async function mergePull(cli: Cli, place: Place, options: MergeOptions): Promise<void> {
  const { method, title, message } = options;
  const [id, number] = await placeOf(cli, place);
  const seen = await cli.client.scm.getPullRequest(id, number, { signal: cli.signal });
  if (seen.state === 'merged') {
    cli.say(`#${number} is merged already.`);
    return print(cli, seen);
  }
  await cli.requireYes(() => `Merge #${number} “${oneLine(seen.title)}” into ${oneLine(seen.baseRef)}?`);
  const body = { method, title, message, expectedHeadSha: seen.headSha };
  const about = JSON.stringify([id, seen.headSha]);
  print(
    cli,
    await cli.write((client) => client.scm.mergePullRequest(id, number, body, { signal: cli.signal }), about),
  );
}

/** Comments as people read them: a review thread, its replies under it. */
export function commentsText(cli: Cli, comments: readonly Comment[]): string {
  return comments
    .map(({ id, author, createdAt, path, line, resolved, inReplyTo, body }) => {
      const place = path === null ? '' : `  ${oneLine(path)}${line === null ? '' : `:${line}`}`;
      const state = inReplyTo === null ? (resolved ? '  resolved' : '  open') : '';
      const head = `${cli.paint('bold', oneLine(author))}  ${ago(createdAt)}${place}${state}  ${cli.paint('dim', id)}`;
      const indent = inReplyTo === null ? '' : '    ';
      return [head, ...shown(body).trimEnd().split('\n')].map((text) => indent + text).join('\n');
    })
    .join('\n\n');
}

export async function printComments(
  cli: Cli,
  [repositoryId, number]: readonly [string, number],
): Promise<void> {
  const comments: Comment[] = [];
  for await (const comment of cli.client.scm.listComments(repositoryId, number, { signal: cli.signal })) {
    if (cli.globals.jsonl) cli.printLine(comment);
    comments.push(comment);
  }
  if (cli.globals.jsonl) return;
  if (comments.length === 0 && !cli.isJson) return cli.say('There are no comments.');
  cli.show({ comments, nextCursor: null, hasMore: false }, () => commentsText(cli, comments));
}

export const listComments = async (cli: Cli, place: Place): Promise<void> =>
  printComments(cli, await placeOf(cli, place));

interface Where extends Texts {
  path: string | undefined;
  line: number | undefined;
  reply: string | undefined;
}

export async function createComment(
  cli: Cli,
  place: Place,
  { path, line, reply: inReplyTo, ...texts }: Where,
): Promise<void> {
  const { body: text } = await bodyTextOf(cli, texts);
  if (text === undefined) throw usage('Give the text: --body TEXT, or --body-file FILE.');
  const [id, number] = await placeOf(cli, place);
  const body = { body: text, path, line, inReplyTo };
  const about = JSON.stringify([id, body]);
  const comment = await cli.write(
    (client) => client.scm.createComment(id, number, body, { signal: cli.signal }),
    about,
  );
  cli.show({ comment }, () => commentsText(cli, [comment]));
}

export async function updateComment(
  cli: Cli,
  [repository, pull, commentId]: [string, string, string],
  open: boolean,
): Promise<void> {
  const [id, number] = await placeOf(cli, [repository, pull]);
  const comment = await cli.write(
    (client) => client.scm.updateComment(id, number, commentId, { resolved: !open }, { signal: cli.signal }),
    id,
  );
  cli.show({ comment }, () => commentsText(cli, [comment]));
}
