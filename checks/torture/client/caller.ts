/** A process of a customer: it does the operations that it is sent, each under its own key. */
import { createClient, HeadraceError } from '@headrace/client';
import type { Client } from '@headrace/client';
import type { Written } from './judge.ts';

export interface Order {
  /** Of the operation, and its key. */
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

/** It knows nothing of what was done before it. */
async function write(client: Client, name: string): Promise<Written> {
  const app = await client.apps.create({ name });
  const { source } = await client.sources.import(app.id, { files: [{ path: 'a.txt', content: name }] });
  await client.head.initialize(app.id, { sourceId: source.id });
  const { thread } = await client.threads.create(app.id, { title: name });
  return { name, appId: app.id, sourceId: source.id, threadId: thread.id };
}
