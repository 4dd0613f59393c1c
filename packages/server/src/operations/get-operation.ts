import Type from 'typebox';
import { seesProject } from '../http/principal.ts';
import { authorize } from '../http/authorize.ts';
import { notFound } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Enum, Id, Nullable, Ok, Text, Time } from '../http/schemas.ts';

const OperationView = Type.Object({
  id: Id('op'),
  idempotencyKey: Text('7d1f5a52-0b0e-4c11-8c67-0f6d5f0a3c11'),
  method: Text('POST'),
  path: Text('/api/platform/v1/apps'),
  projectId: Nullable(Id('prj')),
  status: Enum(['pending', 'succeeded', 'failed', 'uncertain']),
  responseStatus: Nullable(Type.Integer({ examples: [201] })),
  response: Type.Unsafe<unknown>({
    type: ['object', 'null'],
    description: 'The stored answer, secrets removed.',
    examples: [{ ok: true }],
  }),
  createdAt: Time,
  settledAt: Nullable(Time),
  reservedUntil: Nullable(Time),
});

export const getOperation = read({
  name: 'operations.getOperation',
  summary: 'Inspect the receipt of an idempotent write',
  access: 'authenticated',
  responses: { 200: Ok({ operation: OperationView }) },
  async handle({ ctx, principal, params }) {
    const row = await ctx.db
      .selectFrom('operations')
      .selectAll()
      .where('org_id', '=', principal.orgId)
      .where('id', '=', params.operationId!)
      .executeTakeFirst();
    if (!row || (row.project_id !== null && !seesProject(principal, row.project_id)))
      throw notFound('operation');
    if (row.project_id === null && principal.projectIds !== null && row.actor_id !== principal.actorId)
      throw notFound('operation');
    // One without permissions is of a write that only sessions may do: for its actor, owners and admins.
    if (row.permissions.length) authorize({ permissions: row.permissions }, principal, 'direct', params);
    else if (row.actor_id !== principal.actorId) authorize({ session: 'admin' }, principal, 'direct', params);
    return {
      status: 200,
      body: {
        ok: true,
        operation: {
          id: row.id,
          idempotencyKey: row.idempotency_key,
          method: row.method,
          path: row.path,
          projectId: row.project_id,
          status: row.status,
          responseStatus: row.response_status,
          response: row.response === null ? null : (JSON.parse(row.response) as unknown),
          createdAt: row.created_at.toISOString(),
          settledAt: row.settled_at?.toISOString() ?? null,
          reservedUntil: row.reserved_until?.toISOString() ?? null,
        },
      },
    };
  },
});
