/** A thread with a draft that conflicts with the head. */
import { randomUUID } from 'node:crypto';
import type { Actor, Calls } from './actors.ts';
import { PLATFORM } from './exhibits.ts';
import type { Ids } from './exhibits.ts';
import { until } from './until.ts';

const PATH = 'a.txt';

interface Conflict {
  ids: Ids;
  body: { expectedSourceId: string; path: string };
}

export async function newConflict({ call }: Calls, key: Actor): Promise<Conflict> {
  const { app } = await call(key, 'POST', `${PLATFORM}/apps`, { name: 'Conflict' });
  const at = `${PLATFORM}/apps/${app.id as string}`;
  const { source } = await call(key, 'POST', `${at}/sources`, { files: [{ path: PATH, content: 'base\n' }] });
  await call(key, 'POST', `${at}/source-head/initialize`, { sourceId: source.id });
  const [draft, other] = [await edited('draft\n'), await edited('head\n')];
  const clientOperationId = randomUUID();
  const { apply } = await call(
    key,
    'POST',
    `${at}/threads/${other.threadId}/apply`,
    { expectedSourceId: other.sourceId, clientOperationId },
    clientOperationId,
  );
  await until(
    () => call(key, 'GET', `${at}/applies/${apply.id as string}?waitSeconds=10`),
    (answer) => answer.apply.status === 'applied',
    'the apply',
  );
  return {
    ids: { appId: app.id as string, threadId: draft.threadId },
    body: { expectedSourceId: draft.sourceId, path: PATH },
  };

  async function edited(content: string): Promise<{ threadId: string; sourceId: string }> {
    const { thread } = await call(key, 'POST', `${at}/threads`, {});
    const threadId = thread.id as string;
    await until(
      () => call(key, 'GET', `${at}/threads/${threadId}`),
      (answer) => answer.thread.initializationState === 'completed',
      'the thread',
    );
    const edit = await call(key, 'POST', `${at}/threads/${threadId}/edits`, {
      expectedSourceId: source.id,
      changes: [{ path: PATH, content }],
    });
    return { threadId, sourceId: edit.source.id as string };
  }
}
