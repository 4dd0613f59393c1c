import type { Member } from '@headrace/client';
import { useSession } from '../../api/session.ts';

export type Role = Member['role'];

/** What each role may do, for who chooses one. */
export const ROLES: { id: Role; text: string; may: string }[] = [
  { id: 'member', text: 'Member', may: 'Works on apps and threads, and reads repositories and usage.' },
  { id: 'admin', text: 'Admin', may: 'Everything, but to make, change or remove an owner.' },
  { id: 'owner', text: 'Owner', may: 'Everything, also to delete the organization.' },
];

/** The user's role in this organization. */
export function useRole(): Role | null {
  const { organizations, activeOrganizationId } = useSession();
  return organizations.find(({ id }) => id === activeOrganizationId)?.role ?? null;
}

/** Only an owner makes or changes an owner. */
export const mayChange = (own: Role | null, other: Role): boolean =>
  own === 'owner' || (own === 'admin' && other !== 'owner');
