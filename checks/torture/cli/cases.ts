/** The writes of the command line, one of each kind, and how their effects are counted. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@headrace/client';

/** What a command works with: an app with a head and a thread of its own. */
export interface Ground {
  client: Client;
  /** Unique. */
  name: string;
  /** The working folder. */
  cwd: string;
  appId: string;
  threadId: string;
}

export interface Case {
  /** The command's name. */
  name: string;
  argv(ground: Ground): string[];
  /** How often the command had each of its effects: each once. */
  effects(ground: Ground): Promise<Record<string, number>>;
  prepare?(ground: Ground): Promise<void> | void;
}

const SCRIPT = ['```sh', 'echo more >> a.txt', '```'].join('\n');

async function count<T>(list: AsyncIterable<T>, isOne: (item: T) => boolean = () => true): Promise<number> {
  let found = 0;
  for await (const item of list) if (isOne(item)) found++;
  return found;
}

export const CASES: readonly Case[] = [
  {
    name: 'apps create',
    argv: ({ name }) => ['apps', 'create', `made ${name}`],
    effects: async ({ client, name }) => ({ apps: await count(client.apps.list({ query: `made ${name}` })) }),
  },
  {
    name: 'push',
    prepare({ cwd, name }) {
      mkdirSync(join(cwd, 'site'));
      writeFileSync(join(cwd, 'site/index.html'), name);
    },
    argv: ({ appId }) => ['push', 'site', '--app', appId],
    effects: async ({ client, appId }) => ({
      sources: (await count(client.sources.list(appId), ({ origin }) => origin === 'import')) - 1,
    }),
  },
  {
    name: 'thread new',
    argv: ({ appId, name }) => ['thread', 'new', '--title', `new ${name}`, '--app', appId],
    effects: async ({ client, appId, name }) => ({
      threads: await count(client.threads.list(appId), ({ title }) => title === `new ${name}`),
    }),
  },
  {
    name: 'send',
    argv: ({ appId, threadId }) => ['send', threadId, SCRIPT, '--app', appId],
    effects: async ({ client, appId, threadId }) => ({
      messages: await count(client.messages.list(appId, threadId), ({ role }) => role === 'user'),
      runs: await count(client.runs.list(appId, threadId)),
    }),
  },
  {
    name: 'run',
    argv: ({ appId, name }) => ['run', SCRIPT, '--title', `run ${name}`, '--apply', '--app', appId],
    effects: async ({ client, appId, name }) => ({
      threads: await count(client.threads.list(appId), ({ title }) => title === `run ${name}`),
      applies: await count(client.applies.list(appId)),
      heads: (await count(client.head.history(appId))) - 1,
    }),
  },
  {
    name: 'apply',
    async prepare({ client, appId, threadId }) {
      const { latestSourceId: expectedSourceId } = await client.threads.get(appId, threadId);
      await client.edits.create(appId, threadId, {
        expectedSourceId: expectedSourceId!,
        changes: [{ path: 'b.txt', content: 'b' }],
      });
    },
    argv: ({ appId, threadId }) => ['apply', threadId, '--app', appId, '--yes'],
    effects: async ({ client, appId }) => ({
      applies: await count(client.applies.list(appId)),
      heads: (await count(client.head.history(appId))) - 1,
    }),
  },
  {
    name: 'build',
    argv: ({ appId, threadId }) => ['build', threadId, '--app', appId, '--', 'mkdir', 'dist'],
    effects: async ({ client, appId, threadId }) => ({
      builds: await count(client.builds.list(appId, threadId)),
    }),
  },
  {
    name: 'tasks create',
    async prepare({ client, name }) {
      await client.projects.create({ name: `for ${name}` });
    },
    argv: ({ name }) => ['tasks', 'create', `task ${name}`, '--project', `~for ${name}`],
    effects: async ({ client, name }) => ({
      tasks: await count(client.tasks.list(), ({ title }) => title === `task ${name}`),
    }),
  },
  {
    name: 'projects create',
    argv: ({ name }) => ['projects', 'create', `project ${name}`],
    effects: async ({ client, name }) => ({
      projects: await count(
        client.projects.list({ kind: 'direct' }),
        (one) => one.name === `project ${name}`,
      ),
    }),
  },
  {
    name: 'api',
    argv: ({ name }) => ['api', 'POST', '/api/platform/v1/apps', '-f', `name=by api ${name}`],
    effects: async ({ client, name }) => ({
      apps: await count(client.apps.list({ query: `by api ${name}` })),
    }),
  },
];
