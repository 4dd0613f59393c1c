/** What people type for a repository, an installation or a pull request. */
import type { Installation, PullRequestSummary, Repository } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import { directThreadNamed, idNamed, rememberLast } from '../core/ids.ts';
import type { Resource } from '../core/ids.ts';

const repositories = (cli: Cli): Resource<Repository> => ({
  what: 'repository',
  prefix: 'repo_',
  listing: 'headrace repos list',
  list: (options, query) => cli.client.scm.listRepositories({ ...options, query }),
  named: ({ id, fullName }) => ({ id, label: fullName }),
});

/** A repository's full name is unique, so it needs no `~`. */
export async function repositoryNamed(cli: Cli, text: string): Promise<string> {
  const resource = repositories(cli);
  if (!/^(@|~|repo_)/.test(text))
    for await (const { id, fullName } of resource.list({ signal: cli.signal }, text))
      if (fullName === text) return id;
  return idNamed(cli, text, resource);
}

export const rememberRepository = (cli: Cli, id: string): void => rememberLast(cli, repositories(cli), id);

export const installationNamed = (cli: Cli, text: string): Promise<string> =>
  idNamed<Installation>(cli, text, {
    what: 'installation',
    prefix: 'ins_',
    listing: 'headrace installations list',
    list: (options) => cli.client.scm.listInstallations(options),
    named: ({ id, name }) => ({ id, label: name }),
  });

/** How a command names a pull request. */
export interface Asked {
  /** Its number, or its id; when omitted, the thread's open one, else its newest. */
  text: string | undefined;
  /** The thread that made it; when omitted, the last one. */
  thread: string | undefined;
}

/** A pull request of a thread, without its body. */
export async function pullRequestNamed(cli: Cli, { text, thread }: Asked): Promise<PullRequestSummary> {
  const threadId = await directThreadNamed(cli, thread ?? '@last');
  const { items } = await cli.client
    .thread(threadId)
    .pullRequests.list({ limit: MOST_PULL_REQUESTS, signal: cli.signal });
  const found = text === undefined ? primaryOf(items) : items.find(matches(text));
  if (found) return found;
  const [which, hint] =
    text === undefined ? ['', 'headrace pr create'] : [` ${JSON.stringify(text)}`, 'headrace pr list'];
  throw new Fault(EXIT.notFound, `The thread ${threadId} has no pull request${which}.`, {
    hint: `${hint} --thread ${threadId}`,
  });
}

const MOST_PULL_REQUESTS = 200;

const primaryOf = (newestFirst: readonly PullRequestSummary[]) =>
  newestFirst.find(({ state }) => state === 'open') ?? newestFirst[0];

const matches =
  (text: string) =>
  ({ id, number }: PullRequestSummary): boolean =>
    id === text || String(number) === text.replace(/^#/, '');
