/** Ids of things that are listed, from what people type: `idOf` of `names.ts` for any resource. */
import type { PageOptions, Project, Thread } from '@headrace/client';
import type { Cli } from './cli.ts';
import { idOf } from './names.ts';
import type { Named } from './names.ts';

export interface Resource<T> {
  /** For messages: `webhook`. */
  what: string;
  /** The prefix of its ids, with `_`. */
  prefix: string;
  /** The command that shows them. */
  listing: string;
  /** The newest first; `query` restricts it to names that contain it, if the operation can. */
  list(options: PageOptions, query: string | undefined): AsyncIterable<T>;
  named(item: T): Named;
}

const PAGE = 200;

/** Takes an id, the beginning of one, `~NAME` and `@last`. */
export const idNamed = <T>(cli: Cli, text: string, resource: Resource<T>): Promise<string> =>
  idOf(text, {
    ...resource,
    last: () => cli.last(lastOf(cli, resource)),
    async *list(query) {
      for await (const item of resource.list({ limit: PAGE, signal: cli.signal }, query))
        yield resource.named(item);
    },
  });

/** `@last` is this one from now on. */
export const rememberLast = <T>(cli: Cli, resource: Resource<T>, id: string): void =>
  cli.remember(lastOf(cli, resource), id);

const lastOf = <T>(cli: Cli, { what }: Resource<T>) => `${what} ${cli.target.url}`;

const projects = (cli: Cli): Resource<Project> => ({
  what: 'project',
  prefix: 'prj_',
  listing: 'headrace projects list',
  list: (options) => cli.client.projects.list({ ...options, kind: 'direct' }),
  named: ({ id, name }) => ({ id, label: name }),
});

/** A project of the Direct API. */
export const projectNamed = (cli: Cli, text: string): Promise<string> => idNamed(cli, text, projects(cli));

export const rememberProject = (cli: Cli, id: string): void => rememberLast(cli, projects(cli), id);

const threads = (cli: Cli): Resource<Thread> => ({
  what: 'thread',
  prefix: 'thr_',
  listing: 'headrace thread list --project PROJECT',
  list: (options, query) => cli.client.threads.listDirect({ ...options, query }),
  named: ({ id, title }) => ({ id, label: title }),
});

/** A thread for the Direct API, which knows the threads of projects and of apps. */
export const directThreadNamed = (cli: Cli, text: string): Promise<string> =>
  idNamed(cli, text, threads(cli));

export const rememberDirectThread = (cli: Cli, id: string): void => rememberLast(cli, threads(cli), id);
