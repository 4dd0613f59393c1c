import type { VariableRow } from '../db/schema.ts';
import { openValue } from './values.ts';

/** Throws as `openValue`, of what is no secret. */
export const variableView = (secretKey: Buffer, v: VariableRow) => ({
  id: v.id,
  name: v.name,
  value: v.is_secret ? null : openValue(secretKey, v),
  secret: v.is_secret,
  targets: v.targets,
  level: v.project_id === null ? ('organization' as const) : ('app' as const),
  createdAt: v.created_at.toISOString(),
  updatedAt: v.updated_at.toISOString(),
});
