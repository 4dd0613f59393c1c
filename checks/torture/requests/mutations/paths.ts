/** Ids that are none or nobody's, paths that lead nowhere, and methods that a path does not take. */
import { randomBytes } from 'node:crypto';
import type { Random } from '../../../harness/random.ts';
import { requestOf, targetOf } from '../specimen.ts';
import { exhibitName, pathOf } from '../world.ts';
import type { Mutation } from './mutation.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const MARK = 'the-marked-id';
/** Operations whose sender signs the body: what is not signed gets one answer, whatever the id. */
export const SIGNED_BY_SENDER: readonly string[] = ['scm.receiveWebhook', 'automations.receiveHook'];
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** An id of the same form that nobody has. */
export function absentId(like: string): string {
  const prefix = like.slice(0, like.lastIndexOf('_'));
  return `${prefix}_0${[...randomBytes(25)].map((byte) => BASE32[byte % 32]).join('')}`;
}
export const isAnId = (text: string) => /^[a-z]+_[0-9a-z]{26}$/.test(text);

/** As they go out. */
function wrongIds(id: string, random: Random): string[] {
  const at = id.length - 1 - random.below(20);
  const changed = id.slice(0, at) + (id[at] === '0' ? '1' : '0') + id.slice(at + 1);
  return [
    absentId(id),
    changed,
    id.toUpperCase(),
    id.slice(0, -1),
    `${id}0`,
    `wrong_${id.slice(-26)}`,
    `op_${'z'.repeat(26)}`,
    '0',
    '-1',
    'null',
    'undefined',
    '%00',
    `${id}%00`,
    `${id}%0a`,
    `%20${id}`,
    '%2e%2e',
    '%2F',
    `${id}%2F..`,
    '%F0%9F%99%82',
    'a'.repeat(500),
    'a'.repeat(1500),
    '%c0%80',
    '%zz',
    '%',
    '*',
    "'",
    '%22%3B',
    ';',
    `${id};a=b`,
    '__proto__',
    'constructor',
  ];
}

/** Paths of no operation, made from a path. A PUT could make what has a plain name. */
function strayPaths(path: string): string[] {
  const last = path.lastIndexOf('/');
  return [
    `${path}/`,
    `/${path}`,
    path.replaceAll('/', '//'),
    `${path}/more`,
    `${path}//`,
    `${path.slice(0, last)}/./${path.slice(last + 1)}`,
    `${path}/../no.ne`,
    `${path}/%2e%2e/no.ne`,
    path.toUpperCase(),
    `${path}%00`,
    `${path}%`,
    `${path}%zz`,
    `${path}%c0%80`,
    `/api${path}`,
    path.replace(/^\//, '/\\'),
    `${path}${'/a'.repeat(3000)}`,
    `/${'a'.repeat(10_000)}`,
    '/..%2f..%2fetc%2fpasswd',
    '/.git/config',
    '/api',
    '/api/platform/v2/apps',
    '/favicon.ico',
    '*',
  ];
}

/** A name that callers choose is not an id, nor is a position. */
const isAnyId = (parameter: string) => !['provider', 'index', 'name'].includes(parameter);

export const PATH_MUTATIONS: Mutation[] = [
  {
    name: 'unknown id',
    weight: 2,
    fits: ({ base, pathParameters }) => !SIGNED_BY_SENDER.includes(base) && pathParameters.some(isAnyId),
    apply: (specimen, random, { exhibits: { ids } }) => {
      const { operation } = specimen;
      const name = random.pick(operation.pathParameters.filter(isAnyId));
      const source = exhibitName(operation, name);
      const id = ids[source]!;
      // Another number may be another pull request's.
      const wrong = random.pick(wrongIds(id, random).filter((one) => !/^[1-9]\d*$/.test(one)));
      const path = pathOf(operation, { ...ids, [source]: MARK }).replace(MARK, wrong);
      return { request: requestOf({ ...specimen, path }), operation, status: [404, 400] };
    },
  },
  {
    name: 'no such path',
    fits: () => true,
    apply: (specimen, random) => {
      const path = random.pick(strayPaths(specimen.path));
      // Some are the path of another operation, with an id that is none.
      return {
        request: { ...requestOf(specimen), target: targetOf({ ...specimen, path }) },
        operation: null,
        status: SIGNED_BY_SENDER.includes(specimen.operation.base)
          ? [404, 400, 405, 401, 415]
          : [404, 400, 405],
      };
    },
  },
  {
    name: 'method not allowed',
    fits: () => true,
    apply: (specimen, random, world) => {
      const taken = world.methods.get(specimen.operation.path)!;
      const method = random.pick(METHODS.filter((one) => !taken.includes(one === 'HEAD' ? 'GET' : one)));
      const { body: _, ...request } = requestOf({ ...specimen, body: undefined });
      return {
        request: { ...request, method },
        operation: specimen.operation,
        status: [405],
        code: ['method_not_allowed'],
      };
    },
  },
];
