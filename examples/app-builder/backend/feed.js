/**
 * The service's state in the application's own database. Each event is stored in one transaction with the cursor after
 * it: whenever the process dies, it continues with the next event, and none is missed or counted twice.
 */
const TYPES = ['platform.app.created', 'platform.app.deleted', 'platform.head.updated', 'run.completed', 'run.failed', 'platform.apply.applied', 'platform.build.ready', 'platform.build.failed'];

export async function followFeed({ headrace, db, signal }) {
  const { rows } = await db.query('select cursor from feed');
  await headrace.events.view({ types: TYPES }, {
    signal,
    cursor: rows[0]?.cursor,
    load: async (cursor) => {
      const apps = [];
      for await (const app of headrace.apps.list({ limit: 200 })) apps.push(app);
      await db.transaction(async (tx) => {
        await tx.query('delete from apps');
        for (const app of apps) await storeApp(tx, app);
        await storeCursor(tx, cursor);
      });
    },
    apply: (event, cursor) => db.transaction(async (tx) => {
      await applyEvent(tx, event);
      await storeCursor(tx, cursor);
    }),
    save: (cursor) => storeCursor(db, cursor),
  });
}

const storeCursor = (tx, cursor) => tx.query('insert into feed (cursor) values ($1) on conflict (only_row) do update set cursor = $1', [cursor]);

const storeApp = (tx, { id, externalId, headSourceId = null, headRevision = null }) =>
  tx.query('insert into apps values ($1, $2, $3, $4) on conflict (id) do nothing', [id, externalId, headSourceId, headRevision]);

async function applyEvent(tx, { id, type, appId, data, occurredAt }) {
  if (type === 'platform.app.created') await storeApp(tx, data);
  if (type === 'platform.app.deleted') await tx.query('delete from apps where id = $1', [appId]);
  // A snapshot may be newer than an event that follows it: heads only move forwards.
  if (type === 'platform.head.updated') await tx.query('update apps set head_source_id = $2, revision = $3 where id = $1 and coalesce(revision, 0) < $3', [appId, data.sourceId, data.revision]);
  await tx.query('insert into activity values ($1, $2, $3, $4) on conflict do nothing', [id, appId, type, occurredAt]);
}
