/** What a service key may do, as people write it: `thread:read,update`, `thread:*`, `all`. */
import type { AccountPermissions } from '@headrace/client';
import { usage } from './fault.ts';
import { nearest } from './nearest.ts';

type Resource = keyof AccountPermissions;
/** All that the service knows. */
const PERMISSIONS: { [R in Resource]-?: NonNullable<AccountPermissions[R]> } = {
  project: ['create', 'read', 'update', 'delete'],
  thread: ['create', 'read', 'update', 'delete', 'stop', 'retry'],
  repo: ['read', 'update'],
  mcpServer: ['create', 'read', 'update', 'delete'],
  modelKey: ['read'],
  usage: ['read'],
  webhook: ['create', 'read', 'update', 'delete'],
  automation: ['create', 'read', 'update', 'delete', 'run'],
};

/** Undefined without words. */
export function permissionsOf(words: readonly string[]): AccountPermissions | undefined {
  if (words.length === 0) return undefined;
  if (words.includes('all')) return PERMISSIONS;
  const result: Record<string, string[]> = {};
  for (const word of words) {
    const [resource = '', actions] = word.split(':', 2);
    const known: readonly string[] | undefined = Object.hasOwn(PERMISSIONS, resource)
      ? PERMISSIONS[resource as Resource]
      : undefined;
    if (!known) throw unknown(resource, Object.keys(PERMISSIONS), 'a resource');
    if (!actions) throw usage(`What may it do? Write ${resource}:${known.join(',')}, or ${resource}:*.`);
    for (const action of actions === '*' ? known : actions.split(',')) {
      if (!known.includes(action)) throw unknown(action, known, `an action of ${resource}`);
      result[resource] = [...new Set([...(result[resource] ?? []), action])];
    }
  }
  return result;
}

function unknown(word: string, known: readonly string[], what: string) {
  const close = nearest(word, known);
  return usage(
    `${JSON.stringify(word)} is not ${what}.${close ? ` Did you mean ${close}?` : ''} There are ${known.join(', ')}.`,
  );
}

/** `all`, or `thread:read,update usage:read`. */
export function permissionsText(permissions: AccountPermissions): string {
  const all = Object.entries(PERMISSIONS).map(([resource, actions]) => {
    const given: readonly string[] = permissions[resource as Resource] ?? [];
    return { resource, given, isWhole: given.length === actions.length };
  });
  if (all.every(({ isWhole }) => isWhole)) return 'all';
  const texts = all
    .filter(({ given }) => given.length > 0)
    .map(
      ({ resource, given, isWhole }) => `${resource}:${isWhole && given.length > 1 ? '*' : given.join(',')}`,
    );
  return texts.join(' ') || 'nothing';
}
