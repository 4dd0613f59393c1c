/** For tests: the feeds of a real service over HTTP. */
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { expect } from 'vitest';
import { OWNER } from '../service.fixture.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';
import { readFrames, until } from './events.fixture.ts';
import type { Reader } from './events.fixture.ts';

export const P = '/api/platform/v1';
export const PATHS = ['', '/head', '/stream'];
export const feedsOf = (appId: string) => [
  `${P}/apps/${appId}/events`,
  `${P}/projects/${appId}/events`,
  `${P}/events`,
  '/api/events',
];

export type Fields = Record<string, string | number>;
export interface TestEvent {
  id: string;
  type: string;
  cursor: string;
  sequence: string;
  appId?: string;
  projectId: string | null;
  threadId: string | null;
  runId: string | null;
  data: Record<string, unknown>;
}
export interface TestPage {
  events: TestEvent[];
  nextCursor: string;
  hasMore: boolean;
}

export const query = (fields: Fields) =>
  new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)])).toString();

/** The events of the log that a stream sent, without heartbeats. */
export const framesOf = (reader: Reader) => reader.frames.filter((frame) => frame.event !== 'heartbeat');
export const typesOn = (reader: Reader) => framesOf(reader).map((frame) => frame.event!);

export type FeedClient = ReturnType<typeof feedClient>;

/** `server` is asked for with each call: it starts after this. */
export function feedClient(server: () => TestServer) {
  const created = async (answer: Promise<TestAnswer>): Promise<TestAnswer['body']> => {
    const { status, body, text } = await answer;
    expect(status, text).toBeLessThan(300);
    return body;
  };
  const client = {
    createApp: async (fields: object = {}): Promise<string> =>
      (await created(server().call('POST', `${P}/apps`, { name: 'App', ...fields }))).app.id,
    /** An app that takes threads. */
    async createSeededApp(): Promise<string> {
      const appId = await client.createApp();
      const { source } = await created(
        server().call('POST', `${P}/apps/${appId}/sources`, { files: [{ path: 'a.txt', content: 'a' }] }),
      );
      await created(
        server().call('POST', `${P}/apps/${appId}/source-head/initialize`, { sourceId: source.id }),
      );
      return appId;
    },
    /** A thread of an app, or of a Direct project where `appId` is null. */
    createThread: async (appId: string | null, projectId?: string): Promise<string> =>
      (
        await created(
          appId
            ? server().call('POST', `${P}/apps/${appId}/threads`, {})
            : server().call('POST', '/api/threads', { projectId }),
        )
      ).thread.id,
    createProject: async (): Promise<string> =>
      (await created(server().call('POST', '/api/projects', { name: 'Project' }))).project.id,
    rename: (appId: string) =>
      created(server().call('PATCH', `${P}/apps/${appId}`, { name: `Name ${Math.random()}` })),

    /** One page, whole. */
    async page(feed: string, fields: Fields = {}, key?: string): Promise<TestPage> {
      const res = await server().call('GET', `${feed}?${query(fields)}`, undefined, key ? { key } : {});
      expect(res.status, res.text).toBe(200);
      return res.body;
    },
    /** The page as soon as it has `count` events. */
    pageOf: (feed: string, count: number, fields: Fields = {}) =>
      until(async () => {
        const got = await client.page(feed, fields);
        return got.events.length >= count ? got : undefined;
      }),
    head: async (feed: string, fields: Fields = {}, key?: string): Promise<string> =>
      (await created(server().call('GET', `${feed}/head?${query(fields)}`, undefined, key ? { key } : {})))
        .cursor,

    async refused(
      path: string,
      status: number,
      code: string,
      options: { field?: string; key?: string; headers?: Record<string, string> } = {},
    ): Promise<TestAnswer> {
      const { field, ...rest } = options;
      const res = await server().call('GET', path, undefined, rest);
      expect([res.status, res.body?.error?.code], `${path}: ${res.text}`).toEqual([status, code]);
      if (field) expect(res.body.error.fields.map((f: { path: string }) => f.path)).toEqual([field]);
      return res;
    },
    /** 400 invalid_cursor on the page, and on the stream as `cursor` and as `Last-Event-ID`. */
    async refusedCursor(
      feed: string,
      cursor: string,
      fields: Fields = {},
      status = 400,
      code = 'invalid_cursor',
      key?: string,
    ): Promise<void> {
      await client.refused(`${feed}?${query({ ...fields, cursor })}`, status, code, { key });
      await client.refused(`${feed}/stream?${query({ ...fields, cursor })}`, status, code, { key });
      await client.refused(`${feed}/stream?${query(fields)}`, status, code, {
        key,
        headers: { 'last-event-id': cursor },
      });
    },

    /** An open stream; resolves when its first heartbeat has come. */
    async stream(path: string, headers: Record<string, string> = {}): Promise<Reader> {
      const request = get(`${server().base}${path}`, {
        agent: false,
        headers: { 'x-api-key': server().key, ...headers },
      });
      const response = await new Promise<IncomingMessage>((resolve, reject) =>
        request.on('response', resolve).on('error', reject),
      );
      const reader = readFrames(response, () => request.destroy());
      await until(() => reader.frames.length > 0 || reader.isOver);
      return reader;
    },

    owner: async (): Promise<string> => {
      const signedIn = await server().call('POST', '/api/auth/sign-in/email', OWNER, {
        key: null,
        idem: false,
        headers: { origin: server().base },
      });
      return signedIn.headers.get('set-cookie')!.split(';')[0]!;
    },
    /** An account with `thread:read`, made by the owner. */
    async account(projectIds?: string[]) {
      const cookie = await client.owner();
      const made = await created(
        server().call(
          'POST',
          '/api/service-accounts',
          { name: 'reader', permissions: { thread: ['read'] }, ...(projectIds ? { projectIds } : {}) },
          { cookie },
        ),
      );
      const at = `/api/service-accounts/${made.account.id}`;
      return {
        key: made.key as string,
        id: made.account.id as string,
        credentialId: made.credential.id as string,
        patch: (body: unknown) => created(server().call('PATCH', at, body, { cookie })),
        revoke: () =>
          created(server().call('DELETE', `${at}/credentials/${made.credential.id}`, undefined, { cookie })),
      };
    },
  };
  return client;
}
