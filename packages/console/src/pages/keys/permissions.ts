/** What a service account may be allowed. */
import type { Account } from '@headrace/client';

export type Permissions = Account['permissions'];
/** As sent, whatever the service adds to it. */
type Named = Record<string, readonly string[] | undefined>;

export const RESOURCES: { id: string; text: string; actions: readonly string[] }[] = [
  { id: 'project', text: 'Apps and projects', actions: ['create', 'read', 'update', 'delete'] },
  { id: 'thread', text: 'Threads', actions: ['create', 'read', 'update', 'delete', 'stop', 'retry'] },
  { id: 'repo', text: 'Repositories', actions: ['read', 'update'] },
  { id: 'mcpServer', text: 'MCP servers', actions: ['create', 'read', 'update', 'delete'] },
  { id: 'modelKey', text: 'Model keys', actions: ['read'] },
  { id: 'usage', text: 'Usage', actions: ['read'] },
  { id: 'webhook', text: 'Webhooks', actions: ['create', 'read', 'update', 'delete'] },
  { id: 'automation', text: 'Automations', actions: ['create', 'read', 'update', 'delete', 'run'] },
];

/** The columns of the grid. */
export const ACTIONS = ['create', 'read', 'update', 'delete', 'stop', 'retry', 'run'];

const chosen = (pick: (resource: string, action: string) => boolean): Permissions =>
  Object.fromEntries(
    RESOURCES.map(({ id, actions }) => [id, actions.filter((action) => pick(id, action))] as const).filter(
      ([, actions]) => actions.length > 0,
    ),
  );

export const PRESETS: { text: string; permissions: Permissions }[] = [
  { text: 'Everything', permissions: chosen(() => true) },
  { text: 'Read only', permissions: chosen((_, action) => action === 'read') },
  {
    text: 'Platform backend',
    permissions: chosen(
      (resource, action) =>
        resource === 'project' || resource === 'thread' || (resource === 'usage' && action === 'read'),
    ),
  },
  { text: 'Nothing', permissions: {} },
];

export const has = (permissions: Permissions, resource: string, action: string): boolean =>
  (permissions as Named)[resource]?.includes(action) ?? false;

/** With one action on or off; those that this console does not know stay. */
export function withAction(
  permissions: Permissions,
  { resource, actions, isOn }: { resource: string; actions: readonly string[]; isOn: boolean },
): Permissions {
  const { [resource]: before = [], ...others } = permissions as Named;
  const rest = before.filter((action) => !actions.includes(action));
  const next = isOn ? [...rest, ...actions] : rest;
  const order = RESOURCES.find(({ id }) => id === resource)?.actions ?? [];
  const sorted = next.toSorted((one, other) => order.indexOf(one) - order.indexOf(other));
  return { ...others, ...(sorted.length > 0 && { [resource]: sorted }) };
}

export const isSame = (one: Permissions, other: Permissions): boolean =>
  flat(one).toSorted().join() === flat(other).toSorted().join();

const flat = (permissions: Permissions): string[] =>
  Object.entries(permissions as Named).flatMap(([resource, actions = []]) =>
    actions.map((action) => `${resource}:${action}`),
  );

/** Each resource with its actions, in the order of the grid; those that this console does not know at the end. */
const listed = (permissions: Permissions): [string, readonly string[]][] =>
  [...new Set([...RESOURCES.map(({ id }) => id), ...Object.keys(permissions)])]
    .map((id): [string, readonly string[]] => [id, (permissions as Named)[id] ?? []])
    .filter(([, actions]) => actions.length > 0);

/** `Everything`, `Read only`, or each resource with its actions. */
export function summaryOf(permissions: Permissions): string {
  const preset = PRESETS.find((one) => isSame(one.permissions, permissions));
  if (preset) return preset.text;
  return listed(permissions)
    .map(([resource, actions]) => `${resource}: ${actions.join(', ')}`)
    .join(' · ');
}

/** As the command line takes them. */
export const allowFlags = (permissions: Permissions): string =>
  isSame(permissions, PRESETS[0]!.permissions)
    ? '--allow all'
    : listed(permissions)
        .map(([resource, actions]) => `--allow ${resource}:${actions.join(',')}`)
        .join(' ');

/** As `headrace keys …`. No option says that nothing is allowed. */
export function commandOf(
  command: string,
  { permissions, projectIds }: Pick<Account, 'permissions' | 'projectIds'>,
): string {
  const allow = allowFlags(permissions);
  const only = (projectIds ?? []).map((id) => ` --only ${id}`).join('');
  return allow === ''
    ? `echo '{"permissions":{}}' | headrace keys ${command}${only} --input -`
    : `headrace keys ${command} ${allow}${only}`;
}
