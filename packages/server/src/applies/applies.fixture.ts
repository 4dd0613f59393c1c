/** For tests: drafts and their applies over HTTP. */
import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import type { MergeEngine } from '../merge/pool.ts';
import type { TestAnswer, TestServer } from '../service.fixture.ts';

export const P = '/api/platform/v1';
export type Files = Record<string, string>;

const asFiles = (files: Files) => Object.entries(files).map(([path, content]) => ({ path, content }));

export interface Draft {
  appId: string;
  threadId: string;
  sourceId: string;
}

export interface TestApply {
  id: string;
  sequence: number;
  status: string;
  conflicts: string[];
  error: string | null;
  headSourceId: string | null;
  resultSourceId: string | null;
}

export function draftsOf(server: TestServer) {
  async function ok(answer: Promise<TestAnswer>): Promise<TestAnswer['body']> {
    const { status, text, body } = await answer;
    if (status >= 300) throw new Error(`${status}: ${text}`);
    return body;
  }

  return {
    /** Makes an app with an initialized head. */
    async app(files: Files): Promise<{ appId: string; sourceId: string }> {
      const appId = (await ok(server.call('POST', `${P}/apps`, { name: 'Applies' }))).app.id as string;
      const sourceId = (
        await ok(server.call('POST', `${P}/apps/${appId}/sources`, { files: asFiles(files) }))
      ).source.id as string;
      await ok(server.call('POST', `${P}/apps/${appId}/source-head/initialize`, { sourceId }));
      return { appId, sourceId };
    },
    /** Makes a thread from `base` with these changes (null deletes). */
    async draft(appId: string, base: string, changes: Record<string, string | null>): Promise<Draft> {
      const threadId = (await ok(server.call('POST', `${P}/apps/${appId}/threads`, { sourceId: base })))
        .thread.id as string;
      const list = Object.entries(changes).map(([path, content]) => ({ path, content }));
      const sourceId = list.length
        ? ((
            await ok(
              server.call('POST', `${P}/apps/${appId}/threads/${threadId}/edits`, {
                expectedSourceId: base,
                changes: list,
              }),
            )
          ).source.id as string)
        : base;
      return { appId, threadId, sourceId };
    },
    /** Sends an apply under one key. */
    send(
      draft: Draft,
      fields: Record<string, unknown> = {},
      idem: string = randomUUID(),
    ): Promise<TestAnswer> {
      return server.call(
        'POST',
        `${P}/apps/${draft.appId}/threads/${draft.threadId}/apply`,
        { expectedSourceId: draft.sourceId, clientOperationId: idem, ...fields },
        { idem },
      );
    },
    async queue(draft: Draft, fields: Record<string, unknown> = {}): Promise<TestApply> {
      return (await ok(this.send(draft, fields))).apply as TestApply;
    },
    async ended(appId: string, id: string): Promise<TestApply> {
      const { apply } = await ok(server.call('GET', `${P}/apps/${appId}/applies/${id}?waitSeconds=30`));
      expect(apply.status).not.toBe('queued');
      return apply as TestApply;
    },
    async finish(draft: Draft, fields: Record<string, unknown> = {}): Promise<TestApply> {
      return this.ended(draft.appId, (await this.queue(draft, fields)).id);
    },
    async head(appId: string): Promise<{ sourceId: string; revision: number }> {
      return (await ok(server.call('GET', `${P}/apps/${appId}/source-head`))).head;
    },
    async files(appId: string, sourceId: string): Promise<Files> {
      const list = (await ok(server.call('GET', `${P}/apps/${appId}/sources/${sourceId}/files?limit=200`)))
        .files as { path: string }[];
      const contents = await Promise.all(
        list.map(
          async ({ path }) =>
            [
              path,
              (
                await ok(
                  server.call(
                    'GET',
                    `${P}/apps/${appId}/sources/${sourceId}/file?path=${encodeURIComponent(path)}`,
                  ),
                )
              ).file.content,
            ] as const,
        ),
      );
      return Object.fromEntries(contents);
    },
    /** Makes an app with a draft whose head has moved from the same base. */
    async diverged(
      base: Files,
      head: Record<string, string | null>,
      draft: Record<string, string | null>,
    ): Promise<Draft & { base: string; head: string }> {
      const { appId, sourceId } = await this.app(base);
      const moved = await this.finish(await this.draft(appId, sourceId, head));
      expect(moved.status).toBe('applied');
      return { ...(await this.draft(appId, sourceId, draft)), base: sourceId, head: moved.resultSourceId! };
    },
  };
}

/** Stops every merge before it is settled, until `release`. */
export function holdMerges(server: TestServer) {
  const { ctx } = server.service;
  const { merger } = ctx;
  const held = Promise.withResolvers<void>();
  const merge = vi.fn<MergeEngine['merge']>(async (request) => {
    const result = await merger.merge(request);
    await held.promise;
    return result;
  });
  ctx.merger = { ...merger, merge };
  return {
    /** Waits until this many merges have stopped. */
    begun: (times = 1) => vi.waitFor(() => expect(merge).toHaveBeenCalledTimes(times), 10_000),
    release() {
      ctx.merger = merger;
      held.resolve();
    },
  };
}
