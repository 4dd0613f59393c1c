/** Who is signed in. */
import { HeadraceError } from '@headrace/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { client, READ_TIMEOUT_MS } from './client.ts';

export type SessionInfo = Awaited<ReturnType<typeof readSession>>;

const readSession = () => client.session.get({ timeoutMs: READ_TIMEOUT_MS });

/** Null for nobody. A session that has ended stays, under the dialog that asks to sign in again. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ client: cache, queryKey }) => {
    try {
      return await readSession();
    } catch (error) {
      const isEnded = error instanceof HeadraceError && error.status === 401;
      if (isEnded && !cache.getQueryData(queryKey)) return null;
      throw error;
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
});

/** Throws outside of the signed-in pages. */
export function useSession(): NonNullable<SessionInfo> {
  const { data } = useQuery(sessionQuery);
  if (!data) throw new Error('Nobody is signed in.');
  return data;
}

/** Whether the role here has a permission, `thread:update`. The service decides; this only hides what it would refuse. */
export function useMay(permission: `${string}:${string}`): boolean {
  const [resource, action] = permission.split(':') as [string, string];
  const permissions = useSession().permissions as Record<string, readonly string[] | undefined>;
  return permissions[resource]?.includes(action) ?? false;
}

/** Whether the user is an owner or admin here: these read and set what holds for the organization. */
export function useIsAdmin(): boolean {
  const { organizations, activeOrganizationId } = useSession();
  const role = organizations.find(({ id }) => id === activeOrganizationId)?.role;
  return role === 'owner' || role === 'admin';
}

/** Whether the user may see the state of the whole service. */
export function useIsOperator(): boolean {
  const isAdmin = useIsAdmin();
  return useSession().isOperator && isAdmin;
}
