import Type from 'typebox';
import { page } from '../http/cursors.ts';
import { read } from '../http/operation.ts';
import { Id, ListQuery, Nullable, Page, Text, Time } from '../http/schemas.ts';

const Entry = Type.Object({
  id: Id('aud'),
  action: Text('service_account.created', { description: 'What was done: `<resource>.<past tense>`.' }),
  actorId: Nullable(Id('usr', 'A user or a service account; null: the service or its operator.')),
  targetId: Nullable(Id('sa', 'What it was done to.')),
  address: Nullable(Text('203.0.113.7', { description: "The caller's network address." })),
  createdAt: Time,
});

export const listEntries = read({
  name: 'audit.listEntries',
  summary: 'Read the audit log, newest first',
  description:
    'Who did what, when and from where: sign-ins, accounts, keys, members, settings, installations, repositories, webhooks, automations, pushes, pull requests, deletions.',
  access: { session: 'admin' },
  query: ListQuery(),
  responses: { 200: Page('entries', Entry) },
  async handle({ ctx, principal, query }) {
    const { rows, ...rest } = await page(
      { secretKey: ctx.secretKey, query, scope: ['audit', principal.orgId] },
      (after, limit) => {
        let entries = ctx.db.selectFrom('audit_entries').selectAll().where('org_id', '=', principal.orgId);
        if (after !== null) entries = entries.where('id', '<', after);
        return entries.orderBy('id', 'desc').limit(limit).execute();
      },
      (row) => row.id,
    );
    const entries = rows.map((e) => ({
      id: e.id,
      action: e.action,
      actorId: e.actor_id,
      targetId: e.target_id,
      address: e.address,
      createdAt: e.created_at.toISOString(),
    }));
    return { status: 200, body: { ok: true, entries, ...rest } };
  },
});
