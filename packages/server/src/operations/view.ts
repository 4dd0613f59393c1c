import Type from 'typebox';
import type { OperationRow } from '../db/schema.ts';
import { Enum, Id, Nullable, Text, Time } from '../http/schemas.ts';

export const OperationView = Type.Object({
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

export const operationView = (row: OperationRow) => ({
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
});
