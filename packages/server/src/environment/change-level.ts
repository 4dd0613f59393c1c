/** Setting and deleting a variable of a locked level. */
import { audit } from '../audit/index.ts';
import type { VariableRow } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';
import { ApiError, invalid } from '../http/errors.ts';
import type { Call } from '../http/operation.ts';
import { newId } from '../ids.ts';
import { requireName } from './names.ts';
import { findVariable, loadVariable } from './policy.ts';
import type { Level } from './policy.ts';
import { TARGETS } from './schemas.ts';
import type { NewVariable } from './schemas.ts';
import { removeVariable, saveVariable } from './store.ts';
import { sealValue } from './values.ts';
import { variableView } from './view.ts';

const VALUE_BYTES = 32_768;
const LEVEL_VARIABLES = 100;
const LEVEL_BYTES = 65_536;

/** Sets the variable that the path names to just what the body says; it keeps its id. */
export async function setVariable(tx: Tx, call: Call<unknown, NewVariable>, level: Level) {
  const { ctx, body } = call;
  const { value, secret: isSecret = false } = body;
  const name = requireName(call.params.name!);
  if (Buffer.byteLength(value) > VALUE_BYTES)
    throw invalid({ path: '/value', message: `must be at most ${VALUE_BYTES} bytes in UTF-8` });
  const before = await findVariable(tx.db, level, name);
  const byteSize = Buffer.byteLength(name) + Buffer.byteLength(value);
  await requireRoom(tx, level, { id: before?.id ?? null, byteSize });
  const identity = { org_id: level.org_id, id: before?.id ?? newId('env') };
  const row = await saveVariable(tx, {
    ...identity,
    project_id: level.project_id,
    name,
    value_sealed: sealValue(ctx.secretKey, identity, value),
    byte_size: byteSize,
    is_secret: isSecret,
    targets: TARGETS.filter((target) => body.targets?.includes(target) ?? (!isSecret || target !== 'run')),
  });
  await audit(tx, call, 'variable.set', row.id);
  return answer(call, level, row);
}

export async function deleteVariable(tx: Tx, call: Call, level: Level) {
  const row = await loadVariable(tx.db, level, call.params.name!);
  await removeVariable(tx, row.id);
  await audit(tx, call, 'variable.deleted', row.id);
  return answer(call, level, row);
}

/** Its receipt does not show the value: the variable may become a secret, or be deleted, in the receipt's life. */
function answer({ ctx }: Call, { scope }: Level, row: VariableRow) {
  const variable = variableView(ctx, row);
  return {
    status: 200,
    body: { ok: true, variable },
    ...(variable.value !== null && { shown: { ok: true, variable: { ...variable, value: null } } }),
    ...(scope && { scope }),
  };
}

/** Throws `conflict` where the level's other variables leave no room for it. */
async function requireRoom(
  tx: Tx,
  { org_id: orgId, project_id: projectId }: Level,
  { id, byteSize }: { id: string | null; byteSize: number },
): Promise<void> {
  const others = await tx.db
    .selectFrom('variables')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number | null>('byte_size').as('bytes')])
    .where('org_id', '=', orgId)
    .where('project_id', 'is not distinct from', projectId)
    .where('id', 'is distinct from', id)
    .executeTakeFirstOrThrow();
  const whose = projectId === null ? 'An organization' : 'An app';
  if (others.count >= LEVEL_VARIABLES)
    throw new ApiError('conflict', `${whose} has at most ${LEVEL_VARIABLES} variables. Delete one first.`);
  if ((others.bytes ?? 0) + byteSize > LEVEL_BYTES)
    throw new ApiError(
      'conflict',
      `${whose} has at most ${LEVEL_BYTES} bytes of names and values. Delete or shorten one first.`,
    );
}
