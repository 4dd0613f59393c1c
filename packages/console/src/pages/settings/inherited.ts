import type { Settings } from '@headrace/client';
import type { Choice } from '../../ui/fields.tsx';
import type { Whose } from './level.ts';
import type { PartProps } from './part.ts';

/** The choice of none: what is above says it. */
export const inherit = (of: Whose): Choice =>
  of === 'organization' ? { id: '', text: 'As the service' } : { id: '', text: 'As the organization' };

/** What holds where nothing is set, for a hint. `none`: what holds where the organization sets nothing either. */
export function inherited(
  { of, organization }: Pick<PartProps, 'of' | 'organization'>,
  read: (settings: Settings) => string | null,
  none: string,
): string {
  if (of === 'organization') return none;
  if (!organization) return `as the organization says, else ${none}`;
  const said = read(organization);
  return said === null ? none : `${said}, as the organization says`;
}
