import type { Context } from '../context.ts';
import type { VariableRow } from '../db/schema.ts';
import { tryOpenValue } from './values.ts';

/** With value null for a secret, and where the value cannot be opened. */
export const variableView = (ctx: Pick<Context, 'secretKey' | 'log'>, v: VariableRow) => ({
  id: v.id,
  name: v.name,
  value: v.is_secret ? null : tryOpenValue(ctx, v),
  secret: v.is_secret,
  targets: v.targets,
  level: v.project_id === null ? ('organization' as const) : ('app' as const),
  createdAt: v.created_at.toISOString(),
  updatedAt: v.updated_at.toISOString(),
});
