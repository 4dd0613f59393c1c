import Type from 'typebox';
import { appendEvent } from '../db/transaction.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { scopeOf } from './policy.ts';
import { App, ExternalId, Metadata, Name } from './schemas.ts';
import { insertProject } from './store.ts';
import { appEventData, appView } from './view.ts';

export const createApp = write({
  name: 'projects.createApp',
  summary: 'Create an app',
  description: "An app holds sources, a head, threads, applies and builds. Its id is its project's id.",
  access: { permissions: ['project:create'], unrestricted: true },
  body: Body({ name: Name, externalId: Type.Optional(ExternalId), metadata: Type.Optional(Metadata) }),
  responses: { 201: Ok({ app: App }) },
  async handle(tx, { principal, body }) {
    const app = await insertProject(tx, { orgId: principal.orgId, kind: 'platform', ...body });
    appendEvent(tx, scopeOf(app), 'platform.app.created', appEventData(app));
    return { status: 201, body: { ok: true, app: appView(app) }, scope: scopeOf(app) };
  },
});
