import Type from 'typebox';
import { isDeepStrictEqual } from 'node:util';
import { appendEvent } from '../db/transaction.ts';
import { ApiError } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Counter, Nullable, Ok } from '../http/schemas.ts';
import { loadProject, scopeOf } from './policy.ts';
import { App, ExternalId, Metadata, Name } from './schemas.ts';
import { updateProject } from './store.ts';
import { appEventData, appView } from './view.ts';

export const updateApp = write({
  name: 'projects.updateApp',
  summary: "Change an app's name, externalId or metadata",
  description:
    '`metadata` is replaced as a whole. With `expectedVersion`, an intervening change answers 409 `version_conflict` and nothing is changed.',
  access: { permissions: ['project:update'] },
  body: Body({
    name: Type.Optional(Name),
    externalId: Type.Optional(Nullable(ExternalId)),
    metadata: Type.Optional(Metadata),
    expectedVersion: Type.Optional(Counter),
  }),
  responses: { 200: Ok({ app: App }) },
  async handle(tx, call) {
    const before = await loadProject(tx.db, call, 'update');
    const { expectedVersion, ...change } = call.body;
    if (expectedVersion !== undefined && expectedVersion !== before.version)
      throw new ApiError(
        'version_conflict',
        'The app was changed meanwhile. Read it again and decide again.',
        { details: { current: { version: before.version } } },
      );
    const isSame =
      (change.name ?? before.name) === before.name &&
      (change.externalId === undefined || change.externalId === before.external_id) &&
      (change.metadata === undefined || isDeepStrictEqual(change.metadata, before.metadata));
    if (isSame) return { status: 200, body: { ok: true, app: appView(before) }, scope: scopeOf(before) };
    const app = await updateProject(tx, before.id, change);
    appendEvent(tx, scopeOf(app), 'platform.app.updated', appEventData(app));
    return { status: 200, body: { ok: true, app: appView(app) }, scope: scopeOf(app) };
  },
});
