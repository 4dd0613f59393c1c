import type { Settings } from '@headrace/client';

/** What holds where the app sets nothing, for a hint. `none`: what holds where the organization sets nothing either. */
export function inherited(
  organization: Settings | null,
  of: (settings: Settings) => string | null,
  none: string,
): string {
  if (!organization) return `as the organization says, else ${none}`;
  const said = of(organization);
  return said === null ? none : `${said}, as the organization says`;
}
