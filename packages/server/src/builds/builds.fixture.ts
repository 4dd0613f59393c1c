/** Apps with a source and a thread, and waiting for the end of their builds, over HTTP. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { TestServer } from '../service.fixture.ts';

export const P = '/api/platform/v1';
type Files = Record<string, string>;

export async function newApp(server: TestServer, files: Files = { 'a.txt': 'a\n' }) {
  const { app } = (await server.call('POST', `${P}/apps`, { name: 'Builds' })).body;
  const url = `${P}/apps/${app.id}`;
  const { source } = (
    await server.call('POST', `${url}/sources`, {
      files: Object.entries(files).map(([path, content]) => ({ path, content })),
    })
  ).body;
  await server.call('POST', `${url}/source-head/initialize`, { sourceId: source.id });
  return { url, appId: app.id as string, sourceId: source.id as string };
}

export async function newThread(server: TestServer, url: string): Promise<string> {
  const { status, body } = await server.call('POST', `${url}/threads`, {});
  expect(status).toBe(201);
  return body.thread.id;
}

/** Makes an app and a thread, with functions that work on their builds. */
export async function newBench(server: TestServer, files?: Files) {
  const app = await newApp(server, files);
  const threadId = await newThread(server, app.url);
  const thread = `${app.url}/threads/${threadId}`;
  return {
    ...app,
    threadId,
    thread,
    submit: async (command: string, fields: object = {}, on = thread) => {
      const answer = await server.call('POST', `${on}/builds`, {
        command,
        outputDirectory: 'dist',
        timeoutSeconds: 60,
        ...fields,
      });
      expect([answer.status, answer.text]).toEqual([202, answer.text]);
      return answer.body.build;
    },
    read: async (id: string) => (await server.call('GET', `${app.url}/builds/${id}`)).body.build,
    ended: async (id: string) => {
      const { build } = (await server.call('GET', `${app.url}/builds/${id}?waitSeconds=30`)).body;
      expect(['ready', 'failed']).toContain(build.status);
      return build;
    },
    logs: async (id: string, query = '') =>
      (await server.call('GET', `${app.url}/builds/${id}/logs${query}`)).body.logs,
    started: (id: string) =>
      until(
        async () => (await server.call('GET', `${app.url}/builds/${id}`)).body.build.status === 'building',
      ),
    /** Types and data of the app's events of these types, in order. */
    events: async (): Promise<{ type: string; data: Record<string, unknown>; threadId: string | null }[]> =>
      (await server.call('GET', `${app.url}/events?limit=200`)).body.events,
  };
}

export async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await isSo()); await sleep(50))
    if (Date.now() > end) throw new Error(`it did not come: ${isSo.toString()}`);
}

export type Bench = Awaited<ReturnType<typeof newBench>>;
