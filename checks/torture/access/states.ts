/**
 * Every way to come without the right to: the actors, made by the owner of the organization that is asked
 * about.
 */
import { makeServiceKey } from '../../../packages/server/src/accounts/keys.ts';
import { byKey, PERMISSIONS } from '../requests/actors.ts';
import type { Actor, Calls } from '../requests/actors.ts';
import type { Operation } from '../requests/document.ts';
import { absentId } from '../requests/mutations/paths.ts';
import { until } from '../requests/until.ts';

export interface State {
  name: string;
  /** Undefined where the state says nothing of the operation. */
  actorFor(operation: Operation): Actor | undefined;
  /** What is due, whatever the ids are. */
  status(operation: Operation): number;
}

const always = (actor: Actor) => () => actor;
const unauthorized = () => 401;
/** Session-only operations answer any key with 401. */
const byApi =
  (onPlatform: number, onDirect: number) =>
  ({ takesKey, isPlatform }: Operation) =>
    !takesKey ? 401 : isPlatform ? onPlatform : onDirect;

export async function makeStates(
  calls: Calls,
  owner: Actor,
  stranger: { key: Actor; session: Actor },
): Promise<State[]> {
  const { call, account } = calls;
  const [expired, revoked, disabled, restricted, lacking] = [
    await expiredKey(calls, owner),
    await account(owner),
    await account(owner),
    await account(owner, { projectIds: [absentId('prj_0')] }),
    await keysWithout(calls, owner),
  ];
  await call(
    owner,
    'DELETE',
    `/api/service-accounts/${revoked.accountId}/credentials/${revoked.credentialId}`,
  );
  await call(owner, 'PATCH', `/api/service-accounts/${disabled.accountId}`, { disabled: true });
  const member = (await calls.invite(owner, 'member')).actor;
  return [
    { name: 'no credential', actorFor: always([]), status: unauthorized },
    { name: 'a malformed key', actorFor: always(byKey('hrk_none')), status: unauthorized },
    { name: 'an unknown key', actorFor: always(byKey(makeServiceKey())), status: unauthorized },
    { name: 'an expired key', actorFor: always(byKey(expired)), status: unauthorized },
    { name: 'a revoked key', actorFor: always(byKey(revoked.key)), status: unauthorized },
    { name: "a disabled account's key", actorFor: always(byKey(disabled.key)), status: unauthorized },
    // The permission to read a receipt is that of its write: nobody has it for a receipt that does not exist,
    // and the list omits the others.
    {
      name: 'a key without the permission',
      actorFor: (operation) =>
        ['operations.getOperation', 'operations.listOperations'].includes(operation.base)
          ? undefined
          : byKey(lacking.get(operation.permissions[0] ?? '')!),
      status: byApi(403, 401),
    },
    { name: "another organization's key", actorFor: always(stranger.key), status: byApi(404, 404) },
    { name: "another organization's session", actorFor: always(stranger.session), status: () => 404 },
    {
      name: 'a key restricted to another project',
      actorFor: always(byKey(restricted.key)),
      // Installations are the whole organization's.
      status: (operation) =>
        operation.path.startsWith('/api/source-control/scm/installations') ? 401 : byApi(403, 404)(operation),
    },
    {
      name: "a member's session",
      actorFor: (operation) => (operation.needsAdmin ? member : undefined),
      status: () => 403,
    },
  ];
}

async function expiredKey({ call, account, wire }: Calls, owner: Actor): Promise<string> {
  const { accountId } = await account(owner);
  const { key } = await call(owner, 'POST', `/api/service-accounts/${accountId}/credentials`, {
    expiresInSeconds: 1,
  });
  await until(
    async () => ({
      status: (await wire.send({ method: 'GET', target: '/api/projects', headers: byKey(key as string) }))
        .status,
    }),
    ({ status }) => status === 401,
    'an expired key',
  );
  return key as string;
}

/** A key for each permission, with every other one; under '' one with none at all. */
async function keysWithout({ account }: Calls, owner: Actor): Promise<Map<string, string>> {
  const keys = new Map([['', (await account(owner, { permissions: {} })).key]]);
  for (const [resource, actions] of Object.entries(PERMISSIONS)) {
    for (const action of actions)
      keys.set(
        `${resource}:${action}`,
        (
          await account(owner, {
            permissions: { ...PERMISSIONS, [resource]: actions.filter((one) => one !== action) },
          })
        ).key,
      );
  }
  return keys;
}
