/** Values: sealed, bound to their organization and variable. */
import type { Context } from '../context.ts';
import type { VariableRow } from '../db/schema.ts';
import { seal, unseal } from '../sealing.ts';

export const PURPOSE = 'headrace variables';
const placeOf = ({ org_id, id }: Pick<VariableRow, 'org_id' | 'id'>) => `${org_id} ${id}`;

export const sealValue = (
  secretKey: Buffer,
  variable: Pick<VariableRow, 'org_id' | 'id'>,
  value: string,
): Buffer => seal(secretKey, PURPOSE, placeOf(variable), value);

/**
 * Throws when the service's secret key is another one, or the row was moved to another organization or
 * variable.
 */
export const openValue = (
  secretKey: Buffer,
  variable: Pick<VariableRow, 'org_id' | 'id' | 'value_sealed'>,
): string => unseal(secretKey, PURPOSE, placeOf(variable), variable.value_sealed);

/** The same; null, and a line in the log, where it cannot be opened. */
export function tryOpenValue(
  { secretKey, log }: Pick<Context, 'secretKey' | 'log'>,
  variable: Pick<VariableRow, 'org_id' | 'id' | 'value_sealed'>,
): string | null {
  try {
    return openValue(secretKey, variable);
  } catch (error) {
    log.error(
      { variableId: variable.id, reason: (error as Error).message },
      'the value of an environment variable cannot be opened',
    );
    return null;
  }
}
