/** What a service account may be allowed, and what each role may. */
import Type from 'typebox';
import type { Static } from 'typebox';
import { Enum } from '../http/schemas.ts';
import type { Role } from '../http/principal.ts';

export const PERMISSIONS = {
  project: ['create', 'read', 'update', 'delete'],
  thread: ['create', 'read', 'update', 'delete', 'stop', 'retry'],
  repo: ['read', 'update'],
  mcpServer: ['create', 'read', 'update', 'delete'],
  modelKey: ['read'],
  usage: ['read'],
  webhook: ['create', 'read', 'update', 'delete'],
  automation: ['create', 'read', 'update', 'delete', 'run'],
} as const;

const actionsOf = <const A extends readonly string[]>(actions: A) =>
  Type.Optional(
    Type.Array(Enum(actions), {
      maxItems: actions.length,
      examples: [[actions.includes('read') ? 'read' : actions[0]!]],
    }),
  );

/** A list as sent keeps to its number of actions; an action named twice counts once. */
export const Permissions = Type.Object(
  {
    project: actionsOf(PERMISSIONS.project),
    thread: actionsOf(PERMISSIONS.thread),
    repo: actionsOf(PERMISSIONS.repo),
    mcpServer: actionsOf(PERMISSIONS.mcpServer),
    modelKey: actionsOf(PERMISSIONS.modelKey),
    usage: actionsOf(PERMISSIONS.usage),
    webhook: actionsOf(PERMISSIONS.webhook),
    automation: actionsOf(PERMISSIONS.automation),
  },
  {
    additionalProperties: false,
    description: 'Resources and the actions allowed on them.',
    examples: [{ project: ['read'], thread: ['create', 'read', 'update'] }],
  },
);

/** Each action once, in the order sent. */
export function distinct(permissions: Static<typeof Permissions>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(permissions).map(([resource, actions]) => [resource, [...new Set(actions)]]),
  );
}

/** `{ thread: ['read'] }` → `thread:read`. */
export const flatten = (permissions: Record<string, readonly string[]>): ReadonlySet<string> =>
  new Set(
    Object.entries(permissions).flatMap(([resource, actions]) =>
      actions.map((action) => `${resource}:${action}`),
    ),
  );

const OF_ROLES: Record<Role, Record<string, readonly string[]>> = {
  owner: PERMISSIONS,
  admin: PERMISSIONS,
  member: {
    project: ['create', 'read', 'update'],
    thread: PERMISSIONS.thread,
    repo: ['read'],
    usage: ['read'],
  },
};
const FLAT: Record<Role, ReadonlySet<string>> = {
  owner: flatten(OF_ROLES.owner),
  admin: flatten(OF_ROLES.admin),
  member: flatten(OF_ROLES.member),
};
const NONE: ReadonlySet<string> = new Set();

export const permissionsOfRole = (role: Role | null) => (role === null ? NONE : FLAT[role]);

/** The permissions of an account as answers show them; a user without a role has none. */
export const shownPermissions = (role: Role | null) => (role === null ? {} : OF_ROLES[role]);
