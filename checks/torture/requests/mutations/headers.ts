/** Credentials with one changed character, keys that are none, media types that are not taken. */
import { randomUUID } from 'node:crypto';
import type { Random } from '../../../harness/random.ts';
import { makeServiceKey } from '../../../../packages/server/src/accounts/keys.ts';
import type { Actor } from '../actors.ts';
import type { Operation } from '../document.ts';
import type { JsonObject } from '../sample.ts';
import { requestOf } from '../specimen.ts';
import type { Specimen } from '../specimen.ts';
import type { Request } from '../wire.ts';
import type { Broken, Mutation } from './mutation.ts';
import { SIGNED_BY_SENDER } from './paths.ts';

const LONG = 64 * 1024;
const NO_MEDIA = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/problem+json',
  'json',
  ';',
  '',
  'application/ json',
  'text/json',
  '*/*',
  'application/json, text/plain',
  '\u00ff/\u00ff',
  'a'.repeat(1000),
];
const NO_KEYS = ['', ' ', 'with a space', 'k'.repeat(129), '\u00e9', '\u00ff', 'tab\tin', 'k'.repeat(10_000)];
const NO_CREDENTIALS: Actor[] = [
  [['authorization', 'Basic YTpi']],
  [['authorization', 'Bearer']],
  [['authorization', 'Bearer  ']],
  [['authorization', 'Bearer a b']],
  [['x-api-key', 'none']],
  [['x-api-key', 'null']],
  [['cookie', 'headrace_session=']],
  [['cookie', `headrace_session=${'a'.repeat(43)}`]],
  [['cookie', ';;;=;']],
  [],
];

const swapped = (text: string, random: Random, from = 0) => {
  const at = from + random.below(text.length - from);
  return text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1);
};

const without = (request: Request, ...names: string[]): Request => ({
  ...request,
  headers: request.headers.filter(([name]) => !names.includes(name)),
});
const plus = (request: Request, ...headers: Actor): Request => ({
  ...request,
  headers: [...request.headers, ...headers],
});
const answered = ({ operation }: Specimen, request: Request, status: number, ...code: string[]): Broken => ({
  request,
  operation,
  status: [status],
  ...(code.length ? { code } : {}),
});

/** Credentials are looked at before all but the route; public operations look at none. */
const asks = ({ isPublic }: Operation) => !isPublic;
const CREDENTIALS = ['x-api-key', 'authorization', 'cookie'];

export const HEADER_MUTATIONS: Mutation[] = [
  {
    name: 'no credential',
    fits: asks,
    apply: (specimen, random) =>
      answered(
        specimen,
        plus(without(requestOf(specimen), ...CREDENTIALS), ...random.pick(NO_CREDENTIALS)),
        401,
        'unauthorized',
      ),
  },
  {
    name: 'key with one changed character',
    weight: 2,
    fits: ({ takesKey }) => takesKey,
    apply: (specimen, random, { serviceKey }) =>
      answered(
        specimen,
        plus(
          without(requestOf(specimen), ...CREDENTIALS),
          random.next() < 0.5
            ? ['x-api-key', swapped(serviceKey, random)]
            : ['authorization', `Bearer ${swapped(serviceKey, random)}`],
        ),
        401,
        'unauthorized',
      ),
  },
  {
    name: 'key cut off, or with more',
    fits: asks,
    apply: (specimen, random, { serviceKey }) =>
      answered(
        specimen,
        plus(without(requestOf(specimen), ...CREDENTIALS), [
          'x-api-key',
          random.pick([
            serviceKey.slice(0, -1),
            serviceKey.slice(0, -6),
            `${serviceKey}0`,
            serviceKey.toUpperCase(),
            serviceKey.slice(4),
          ]),
        ]),
        401,
        'unauthorized',
      ),
  },
  {
    name: 'two keys',
    fits: asks,
    apply: (specimen, _, { serviceKey }) => ({
      ...answered(
        specimen,
        plus(
          without(requestOf(specimen), ...CREDENTIALS),
          ['x-api-key', serviceKey],
          ['authorization', `Bearer ${makeServiceKey()}`],
        ),
        400,
        'invalid_request',
      ),
      at: ['/headers/authorization'],
    }),
  },
  {
    name: 'key where a session is needed',
    fits: ({ isPublic, takesKey }) => !isPublic && !takesKey,
    apply: (specimen, _, { serviceKey }) =>
      answered(specimen, plus(requestOf(specimen), ['x-api-key', serviceKey]), 401, 'unauthorized'),
  },
  {
    name: 'session cookie with one changed character',
    fits: asks,
    apply: (specimen, random, { owner }) =>
      answered(
        specimen,
        plus(
          without(requestOf(specimen), ...CREDENTIALS),
          ...owner.map(([name, value]): [string, string] => [
            name,
            name === 'cookie' ? swapped(value, random, value.indexOf('=') + 1) : value,
          ]),
        ),
        401,
        'unauthorized',
      ),
  },
  {
    name: 'session of another origin',
    fits: ({ isPublic, method, base }) =>
      !isPublic && method !== 'GET' && base !== 'accounts.signOut' && base !== 'accounts.switchOrganization',
    apply: (specimen, random, { owner }) => {
      const origin = random.pick([
        'https://elsewhere.test',
        'null',
        '',
        undefined,
        'http://localhost.elsewhere.test',
      ]);
      return answered(
        specimen,
        plus(
          without(requestOf(specimen), ...CREDENTIALS, 'origin'),
          ...owner.filter(([name]) => name === 'cookie'),
          ...(origin === undefined ? [] : [['origin', origin] as [string, string]]),
        ),
        403,
        'forbidden',
      );
    },
  },
  {
    name: 'no Idempotency-Key',
    fits: ({ isWrite, takesKey, path }) => isWrite && (takesKey || path.startsWith('/api/service-accounts')),
    apply: (specimen) => ({
      ...answered(
        specimen,
        requestOf({ ...specimen, key: undefined, body: withoutLegacy(specimen) }),
        400,
        'idempotency_key_required',
        'invalid_request',
      ),
    }),
  },
  {
    name: 'bad Idempotency-Key',
    weight: 2,
    fits: ({ isWrite }) => isWrite,
    apply: (specimen, random) => ({
      ...answered(specimen, requestOf({ ...specimen, key: random.pick(NO_KEYS) }), 400, 'invalid_request'),
      at: ['/headers/idempotency-key', '/clientOperationId', '/clientMessageId', '/message/clientMessageId'],
    }),
  },
  {
    name: 'Idempotency-Key twice',
    fits: ({ isWrite }) => isWrite,
    apply: (specimen) =>
      answered(
        specimen,
        plus(requestOf({ ...specimen, body: withoutLegacy(specimen) }), ['idempotency-key', randomUUID()]),
        400,
        'invalid_request',
      ),
  },
  {
    name: 'older member unlike the key',
    fits: ({ body }) =>
      ['clientOperationId', 'clientMessageId'].some((name) => name in (body?.schema.properties ?? {})),
    apply: (specimen, random) => {
      const name = ['clientOperationId', 'clientMessageId'].find(
        (one) => one in specimen.operation.body!.schema.properties!,
      )!;
      return {
        ...answered(
          specimen,
          requestOf({ ...specimen, body: { ...specimen.body!, [name]: swapped(randomUUID(), random) } }),
          400,
          'invalid_request',
        ),
        at: [`/${name}`],
      };
    },
  },
  {
    name: 'media type not taken',
    weight: 2,
    fits: ({ body }) => body !== null,
    apply: (specimen, random) => {
      const type = random.pick(NO_MEDIA);
      const request = without(requestOf(specimen), 'content-type');
      return answered(
        specimen,
        type === '' && random.next() < 0.5 ? request : plus(request, ['content-type', type]),
        415,
        'unsupported_media_type',
      );
    },
  },
  {
    name: 'a body where none is taken',
    // The sender defines the body of a webhook delivery: the document does not describe it.
    fits: ({ base, body }) => body === null && !SIGNED_BY_SENDER.includes(base),
    // HTTP gives a GET's content no meaning, and the service does not read it.
    apply: (specimen, random) => ({
      ...answered(
        specimen,
        requestOf(specimen, Buffer.from(random.pick(['{"a":1}', '{', 'x', '[]', '{"name":"n"}']))),
        400,
      ),
      ...(specimen.operation.method === 'GET'
        ? { status: [400, 404], mayPass: true }
        : { code: ['invalid_request'] }),
    }),
  },
  {
    name: 'gzip that is none',
    fits: ({ body }) => body?.types.includes('application/gzip') ?? false,
    apply: (specimen, random) => {
      const garbage = random.pick([
        Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]),
        Buffer.from('not gzip'),
        Buffer.from([0x1f, 0x8b]),
        Buffer.alloc(100),
        Buffer.alloc(0),
        Buffer.from(JSON.stringify(specimen.body)),
      ]);
      return answered(
        specimen,
        requestOf({ ...specimen, gzip: garbage, query: {} }),
        400,
        'invalid_bundle',
        'invalid_request',
      );
    },
  },
  {
    name: 'a header of 64 KiB',
    weight: 0.5,
    fits: () => true,
    apply: (specimen, random) => ({
      ...answered(
        specimen,
        plus(requestOf(specimen), [
          random.pick(['x-filler', 'cookie', 'accept', 'last-event-id']),
          'h'.repeat(LONG),
        ]),
        431,
        'headers_too_large',
      ),
      operation: null,
    }),
  },
  {
    name: 'odd header',
    fits: ({ method, base }) => method === 'GET' && base !== 'accounts.getSession',
    // What is plain in a required query (`?path=plain`) need not be there.
    apply: (specimen, random) => ({
      request: plus(requestOf(specimen), random.pick(ODD_HEADERS)),
      operation: specimen.operation,
      status: [400, 404],
      mayPass: true,
    }),
  },
];

const ODD_HEADERS: Actor = [
  ['x-request-id', 'r'.repeat(129)],
  ['x-request-id', '\u00e9'],
  ['x-request-id', 'a b'],
  ['x-request-id', '{"a":1}'],
  ['accept', 'image/png'],
  ['accept', '\u00ff'],
  ['range', 'bytes=0-0'],
  ['range', 'bytes=9-1'],
  ['if-match', '*'],
  ['if-modified-since', 'never'],
  ['x-http-method-override', 'DELETE'],
  ['x-forwarded-for', '\u00ff, 1'],
  ['x-forwarded-proto', 'gopher'],
  ['content-encoding', 'br'],
  ['accept-encoding', 'none;q=2'],
  ['te', 'gzip'],
  ['upgrade', 'h2c'],
  ['upgrade', 'websocket'],
  ['expect', '100-continue'],
  ['connection', 'upgrade'],
  ['connection', 'x-api-key'],
  ['traceparent', '00-zz'],
  ['forwarded', 'for="\u00ff'],
  ['date', 'x'],
  ['h'.repeat(2000), 'v'],
];

/**
 * The body without the older members, which would be the key of a session's write; one that is required
 * stays.
 */
function withoutLegacy({ body, operation }: Specimen): JsonObject | undefined {
  if (!body) return undefined;
  const rest = structuredClone(body);
  delete rest.clientMessageId;
  if (!operation.body!.schema.required?.includes('clientOperationId')) delete rest.clientOperationId;
  if (rest.message !== null && typeof rest.message === 'object')
    delete (rest.message as JsonObject).clientMessageId;
  return rest;
}
