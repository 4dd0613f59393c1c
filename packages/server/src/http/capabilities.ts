/** What an operator may take from an organization: its operations then answer 402. */
import { ApiError } from './errors.ts';
import type { Principal } from './principal.ts';

export const CAPABILITIES = ['sourceControl', 'automations', 'webhooks', 'hosts'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** Throws `payment_required` where the caller's organization is without it. */
export function requireCapability({ without = [] }: Principal, capability: Capability): void {
  if (without.includes(capability))
    throw new ApiError(
      'payment_required',
      'The operator has taken this capability from the organization. Ask the operator for it.',
      { details: { capability } },
    );
}
