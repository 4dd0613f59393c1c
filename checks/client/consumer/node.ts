/** What a consumer may write with Node's types and without the DOM's. */
import { createClient } from '@headrace/client';
import type { Source } from '@headrace/client';
import { pull, push } from '@headrace/client/node';

export async function copy(appId: string): Promise<Source> {
  const headrace = createClient({ baseUrl: process.env['HEADRACE_URL']!, key: process.env['HEADRACE_KEY']! });
  const source = await push(headrace, appId, './site');
  await pull(headrace, appId, { folder: './copy', sourceId: source.id });
  // @ts-expect-error -- a folder is a string
  await push(headrace, appId, 7);
  return source;
}
