/**
 * What an operator may take from an organization, whose operations then answer 402, or switch off for all: 501.
 */
import type { Db } from '../db/database.ts';
import { ApiError } from './errors.ts';
import type { Principal } from './principal.ts';

export const CAPABILITIES = ['sourceControl', 'automations', 'webhooks', 'hosts'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/**
 * Throws `not_configured` where the deployment has switched it off, and `payment_required` where the caller's
 * organization is without it.
 */
export function requireCapability(
  { disabled }: { disabled: readonly string[] },
  { without = [] }: Pick<Principal, 'without'>,
  capability: Capability,
): void {
  if (disabled.includes(capability))
    throw new ApiError('not_configured', 'This deployment has switched this capability off.', {
      details: { capability },
    });
  if (without.includes(capability))
    throw new ApiError(
      'payment_required',
      'The operator has taken this capability from the organization. Ask the operator for it.',
      { details: { capability } },
    );
}

/** Whether work that nobody asked for may begin for an organization; what is under way ends as it would. */
export async function mayBegin(
  { config, db }: { config: { disabled: readonly string[] }; db: Db },
  orgId: string,
  capability: Capability,
): Promise<boolean> {
  if (config.disabled.includes(capability)) return false;
  const organization = await db
    .selectFrom('organizations')
    .select('without')
    .where('id', '=', orgId)
    .executeTakeFirst();
  return organization?.without.includes(capability) === false;
}
