/** A customer's process: it executes the operations that it receives, each with its own key. */
import { createClient, HeadraceError } from '@headrace/client';
import type { Client } from '@headrace/client';
import type { Written } from './judge.ts';

export interface Order {
  /** The operation's name, and its key. */
  name: string;
  base: string;
  key: string;
}

export type Answer = { written: Written } | { error: string; isRetryable: boolean };

process.on('message', (order: Order) => {
  void answerTo(order).then((answer) => process.send!(answer));
});
process.on('disconnect', () => process.exit());

async function answerTo({ name, base, key }: Order): Promise<Answer> {
  const client = createClient({ baseUrl: base, key });
  try {
    return { written: await client.operation(name, (keyed) => write(keyed, name)) };
  } catch (error) {
    return { error: String(error), isRetryable: error instanceof HeadraceError && error.retryable };
  }
}

/** It does not know what was done before it started. */
async function write(client: Client, name: string): Promise<Written> {
  const app = await client.apps.create({ name });
  const { source } = await client.sources.import(app.id, { files: [{ path: 'a.txt', content: name }] });
  await client.head.initialize(app.id, { sourceId: source.id });
  const { thread } = await client.threads.create(app.id, { title: name });
  return { name, appId: app.id, sourceId: source.id, threadId: thread.id };
}
