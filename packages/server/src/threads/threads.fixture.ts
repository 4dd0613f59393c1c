/** For tests: an app with a thread on a real service, calls of it, and the exact events that they publish. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { TestAnswer, TestServer } from '../service.fixture.ts';

export const P = '/api/platform/v1';
export type Files = Record<string, string>;

/** Resolves when `look` finds something; fails after `ms`. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  ms = 25_000,
): Promise<Exclude<T, false | null | undefined>> {
  for (const end = Date.now() + ms; ;) {
    const found = await look();
    if (found) return found as Exclude<T, false | null | undefined>;
    if (Date.now() > end) throw new Error(`${what}: it did not happen within ${ms} ms`);
    await sleep(25);
  }
}

/** The body of a successful answer. */
export async function ok(answer: Promise<TestAnswer>): Promise<TestAnswer['body']> {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(`${status}: ${text}`);
  return body;
}

/** A refusal in words, with its reason or fields: `409 thread_busy run`, `400 invalid_request /title`. */
export async function refusal(answer: Promise<TestAnswer>): Promise<string> {
  const { status, body } = await answer;
  return [
    status,
    body?.error?.code,
    body?.error?.reason,
    ...(body?.error?.fields ?? []).map((f: { path: string }) => f.path),
  ]
    .filter(Boolean)
    .join(' ');
}

interface TestEvent {
  type: string;
  data: Record<string, unknown>;
  threadId: string | null;
  runId: string | null;
}

/** `run.completed`, `thread.updated:ready`, `message.persisted:user`. */
const word = ({ type, data }: TestEvent): string => {
  const more =
    type.startsWith('run.') || type.startsWith('platform.') ? undefined : (data.status ?? data.role);
  return more === undefined ? type : `${type}:${more as string}`;
};

export async function newApp(
  server: TestServer,
  files: Files | null = { 'a.txt': 'a\n' },
  fields: Record<string, unknown> = {},
) {
  const { app } = await ok(server.call('POST', `${P}/apps`, { name: 'Garden', ...fields }));
  const at = `${P}/apps/${app.id as string}`;
  let sourceId: string | null = null;
  if (files) {
    sourceId = (
      await ok(
        server.call('POST', `${at}/sources`, {
          files: Object.entries(files).map(([path, content]) => ({ path, content })),
        }),
      )
    ).source.id as string;
    await ok(server.call('POST', `${at}/source-head/initialize`, { sourceId }));
  }
  return { at, appId: app.id as string, sourceId, app };
}

const sh = (command: string) => `\`\`\`sh\n${command}\n\`\`\``;
export { sh };

export interface Bench {
  appId: string;
  app: string;
  at: string;
  threadId: string;
  sourceId: string;
  thread(): Promise<TestAnswer['body']>;
  /** Waits until its workspace is prepared. */
  ready(): Promise<void>;
  send(content: string, fields?: Record<string, unknown>): Promise<TestAnswer['body']>;
  ended(runId: string): Promise<TestAnswer['body']>;
  /** Sends a message and waits for its run's end, which has to have this status. */
  work(content: string, status?: string): Promise<TestAnswer['body']>;
  /**
   * Waits until a tool call of the run is under way, after this many others. Its command may not have done
   * anything yet.
   */
  working(runId: string, others?: number): Promise<void>;
  list(name: string): Promise<TestAnswer['body']>;
  files(sourceId: string): Promise<Files>;
  /** The words of all events of the app that `act` publishes, in order; with `only`, of those that match. */
  during(act: () => Promise<unknown>, only?: RegExp): Promise<string[]>;
}

/** Makes an app with one source at its head, and a thread whose workspace is ready. */
export async function newBench(
  server: TestServer,
  {
    files,
    settings,
    fields,
    thread,
  }: {
    files?: Files;
    settings?: Record<string, unknown>;
    fields?: Record<string, unknown>;
    thread?: Record<string, unknown>;
  } = {},
): Promise<Bench> {
  const { at: app, appId, sourceId } = await newApp(server, files, fields);
  if (settings) await ok(server.call('PATCH', `${app}/settings`, settings));
  const threadId = (await ok(server.call('POST', `${app}/threads`, thread ?? {}))).thread.id as string;
  const at = `${app}/threads/${threadId}`;
  const bench: Bench = {
    appId,
    app,
    at,
    threadId,
    sourceId: sourceId!,
    thread: async () => (await ok(server.call('GET', at))).thread,
    ready: async () => {
      await until(
        'the workspace to be ready',
        async () => (await bench.thread()).workspaceStatus === 'ready',
      );
    },
    send: (content, more = {}) => ok(server.call('POST', `${at}/messages`, { content, ...more })),
    ended: async (runId) => {
      const { run } = await ok(server.call('GET', `${at}/runs/${runId}?waitSeconds=30`));
      expect(['completed', 'failed', 'cancelled']).toContain(run.status);
      return run;
    },
    async work(content, status = 'completed') {
      const run = await bench.ended((await bench.send(content)).run.id);
      expect([run.status, run.error]).toEqual([status, status === 'failed' ? run.error : null]);
      return run;
    },
    working: async (runId, others = 0) => {
      await until('a tool call to run', async () => {
        const { tools } = await ok(server.call('GET', `${at}/runs/${runId}/tools`));
        return tools.length > others && tools.some((tool: { status: string }) => tool.status === 'running');
      });
    },
    list: async (name) =>
      (await ok(server.call('GET', `${at}/${name}?limit=200`)))[
        name === 'workspace/history' ? 'records' : name
      ],
    async files(id) {
      const { files: list } = await ok(server.call('GET', `${app}/sources/${id}/files?limit=200`));
      const contents = await Promise.all(
        list.map(async ({ path }: { path: string }) => [
          path,
          (await ok(server.call('GET', `${app}/sources/${id}/file?path=${encodeURIComponent(path)}`))).file
            .content,
        ]),
      );
      return Object.fromEntries(contents);
    },
    during: (act, only) => wordsDuring(server, app, act, only),
  };
  await bench.ready();
  return bench;
}

/**
 * The words of all events on an app's feed while `act` runs. Changes of the app mark begin and end: events
 * from before may be published after the feed's head was read.
 */
export async function wordsDuring(
  server: TestServer,
  app: string,
  act: () => Promise<unknown>,
  only?: RegExp,
): Promise<string[]> {
  let { cursor } = await ok(server.call('GET', `${app}/events/head`));
  const [begin, end] = [randomUUID(), randomUUID()];
  await ok(server.call('PATCH', app, { externalId: begin }));
  await act();
  await ok(server.call('PATCH', app, { externalId: end }));
  let seen: TestEvent[] = [];
  for (let isOver = false; !isOver;) {
    const page = await ok(
      server.call(
        'GET',
        `${app}/events?limit=500&waitSeconds=10&cursor=${encodeURIComponent(cursor as string)}`,
      ),
    );
    cursor = page.nextCursor;
    expect(page.events.length).toBeGreaterThan(0);
    for (const event of page.events as TestEvent[]) {
      if (event.data.externalId === begin) seen = [];
      else if (event.data.externalId === end) isOver = true;
      else seen.push(event);
    }
  }
  return seen.map(word).filter((w) => !only || only.test(w));
}
