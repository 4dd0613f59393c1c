/** For tests: drafts in conflict with the head, on any service. */
import { createClient } from '@headrace/client';
import type { Client } from '@headrace/client';

export interface Service {
  url: string;
  key: string;
  fetch?: typeof fetch;
}
export type Change = string | null | { content: string; encoding?: 'base64'; executable?: boolean };
export type Changes = Record<string, Change>;

export const clientOf = ({ url, key, fetch }: Service): Client =>
  createClient({ baseUrl: url, key, ...(fetch && { fetch }) });

const changesOf = (changes: Changes) =>
  Object.entries(changes).map(([path, change]) => ({
    path,
    ...(typeof change === 'object' && change !== null ? change : { content: change }),
  }));

export interface Draft {
  appId: string;
  threadId: string;
  sourceId: string;
}

export async function draftFrom(
  client: Client,
  appId: string,
  base: string,
  changes: Changes,
): Promise<Draft> {
  const { thread } = await client.threads.create(appId, { sourceId: base });
  const edit = { expectedSourceId: base, changes: changesOf(changes) };
  const { id: sourceId } = await client.edits.create(appId, thread.id, edit);
  return { appId, threadId: thread.id, sourceId };
}

/** An app whose head has moved by another draft since this one began. */
export async function diverged(
  client: Client,
  base: Record<string, string>,
  head: Changes,
  draft: Changes,
): Promise<Draft & { base: string }> {
  const { id: appId } = await client.apps.create({ name: 'Shop' });
  const files = Object.entries(base).map(([path, content]) => ({ path, content }));
  const { source } = await client.sources.import(appId, { files });
  await client.head.initialize(appId, { sourceId: source.id });
  const other = await draftFrom(client, appId, source.id, head);
  await client.applies.create(appId, other.threadId, { expectedSourceId: other.sourceId }).done();
  return { ...(await draftFrom(client, appId, source.id, draft)), base: source.id };
}

/** What the head has at a path; null for nothing. */
export async function headFile(client: Client, appId: string, path: string): Promise<string | null> {
  const { sourceId } = await client.head.get(appId);
  const { items } = await client.sources.files(appId, sourceId);
  if (!items.some((one) => one.path === path)) return null;
  return (await client.sources.file(appId, sourceId, { path })).content;
}
