/**
 * What a user does, as calls to the service. Each has a key from the browser: a repeated click or a retry after a lost
 * answer has no second effect.
 */
import { join } from 'node:path';
import { push } from '@headrace/client/node';

const BUILD = { command: 'node build.js', outputDirectory: 'dist' };
const PREVIEW = { command: 'node server.js', port: 3000 };

export function createBuilder({ headrace, db, template = join(process.cwd(), 'template') }) {
  /** The user's app; a new user gets one with the template as its first version. */
  async function appOf(user) {
    const known = (await headrace.apps.list({ externalId: user })).items[0];
    if (known?.headSourceId) return known;
    // Two concurrent first visits send the same write: it has one effect.
    const { id } = known ?? (await headrace.apps.create({ name: `${user}'s app`, externalId: user }, { idempotencyKey: `app-of-${user}` }));
    await push(headrace, id, template);
    return headrace.apps.get(id);
  }

  /** The draft that takes the next prompt. An applied one is sealed. */
  async function draftOf(app) {
    for await (const thread of headrace.threads.list(app.id)) if (!thread.sealedAt && !thread.archivedAt) return thread;
    return null;
  }

  const apply = (app, threadId, expectedSourceId, key) =>
    headrace.applies.create(app.id, threadId, { expectedSourceId, conflictResolution: 'manual' }, { idempotencyKey: `${key}.apply` }).done();

  return {
    async state(user) {
      const app = await appOf(user);
      const { items: heads } = await headrace.head.history(app.id, { limit: 200 });
      const { rows: activity } = await db.query('select type, at from activity where app_id = $1 order by at desc limit 20', [app.id]);
      return { app, draft: await draftOf(app), heads, activity };
    },

    async prompt(user, { content }, key) {
      const app = await appOf(user);
      const draft = (await draftOf(app)) ?? (await headrace.threads.create(app.id, {}, { idempotencyKey: `${key}.thread` })).thread;
      const { run } = await headrace.messages.send(app.id, draft.id, { content }, { idempotencyKey: `${key}.message` });
      return { threadId: draft.id, runId: run.id };
    },

    /** The draft as it grows: messages, tool calls, runs. A thread of another user's app is not found. */
    async follow(user, threadId, signal) {
      const app = await appOf(user);
      await headrace.threads.get(app.id, threadId);
      return headrace.threads.follow(app.id, threadId, { signal });
    },

    apply: async (user, { threadId, expectedSourceId }, key) => apply(await appOf(user), threadId, expectedSourceId, key),

    build: async (user, { threadId }, key) =>
      headrace.builds.create((await appOf(user)).id, threadId, BUILD, { idempotencyKey: `${key}.build` }).done(),

    async preview(user, { threadId }, key) {
      const app = await appOf(user);
      const open = (await headrace.previews.list(app.id, threadId)).items.find(({ status }) => status === 'ready');
      return open ?? headrace.previews.create(app.id, threadId, PREVIEW, { idempotencyKey: `${key}.preview` }).done();
    },

    /** Restores an earlier version: applies a draft with its files. */
    async undo(user, { sourceId }, key) {
      const app = await appOf(user);
      const { thread } = await headrace.threads.create(app.id, { title: 'Undo' }, { idempotencyKey: `${key}.thread` });
      const { runId } = await headrace.checkpoints.restoreSource(app.id, thread.id, { sourceId }, { idempotencyKey: `${key}.restore` });
      for (;;) {
        const run = await headrace.runs.get(app.id, thread.id, runId, { waitSeconds: 25 });
        if (run.status === 'completed') return apply(app, thread.id, run.resultSourceId, key);
        if (run.finishedAt) throw new Error(run.error?.message ?? `The restore is ${run.status}.`);
      }
    },
  };
}
