/**
 * Building blocks of request and response schemas. Each carries an example: the document's examples are
 * composed from them.
 */
import Type from 'typebox';
import type { Static, TProperties, TSchema } from 'typebox';
import type { IdPrefix } from '../ids.ts';
import { CODES } from './errors.ts';

const COUNTER_MAX = 9_007_199_254_740_991;

export const EXAMPLE_ID = '01k9x3v5e8f7arh2m4t6w8y0zb';
export const Id = (prefix: IdPrefix, description?: string) =>
  Type.String({
    maxLength: 64,
    examples: [`${prefix}_${EXAMPLE_ID}`],
    ...(description ? { description } : {}),
  });
/** An id in a request's body or query: any text of that length, so that an unknown one is 404 and not 400. */
export const IdInput = (prefix: IdPrefix, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength: 128,
    examples: [`${prefix}_${EXAMPLE_ID}`],
    ...(description ? { description } : {}),
  });
export const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] });
export const Sha256 = Type.String({
  pattern: '^[0-9a-f]{64}$',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
});
export const Counter = Type.Integer({ minimum: 0, maximum: COUNTER_MAX, examples: [1] });
export const Micros = Type.Integer({
  minimum: 0,
  maximum: COUNTER_MAX,
  examples: [2_500_000],
  description: 'Micro-units of USD.',
});
export const Text = (
  example: string,
  limits: { minLength?: number; maxLength?: number; pattern?: string; description?: string } = {},
) => Type.String({ ...limits, examples: [example] });

/** One of these strings. */
export const Enum = <const T extends readonly string[]>(values: T, options: { description?: string } = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });

/** One or several of these strings, separated by commas. */
export const Several = (values: readonly [string, ...string[]], description: string) =>
  Type.String({
    pattern: `^(${values.join('|')})(,(${values.join('|')}))*$`,
    examples: [values.slice(0, 2).join(',')],
    description: `${description} One or more, separated by commas.`,
  });

/** The schema, or null. Type arrays instead of `anyOf`, so that a fault is reported once. */
export function Nullable<S extends TSchema>(schema: S) {
  const plain = { ...schema } as Record<string, unknown>;
  if (typeof plain.type !== 'string')
    return Type.Unsafe<Static<S> | null>({ anyOf: [schema, { type: 'null' }] });
  plain.type = [plain.type, 'null'];
  if (Array.isArray(plain.enum)) plain.enum = [...plain.enum, null];
  return Type.Unsafe<Static<S> | null>(plain);
}

/** An object that takes no further members: for requests. */
export const Body = <P extends TProperties>(properties: P, options: Record<string, unknown> = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** Of what takes no field. One schema for all: a validator is compiled, and kept, for each. */
export const NO_FIELDS = Body({});

/** `{ ok: true, …properties }`: a successful answer. */
export const Ok = <P extends TProperties>(properties: P) =>
  Type.Object({ ok: Type.Literal(true), ...properties });

/** One page of a list. */
export const Page = <S extends TSchema>(plural: string, item: S) =>
  Type.Object({
    ok: Type.Literal(true),
    [plural]: Type.Array(item),
    nextCursor: Nullable(
      Text('eyJsIjoiYXBwcyJ9', { description: 'Pass it as `cursor` to continue; null on the last page.' }),
    ),
    hasMore: Type.Boolean(),
  });

/** The text that a search looks for. */
export const SearchText = (field: string) =>
  Text('shop', {
    minLength: 1,
    maxLength: 200,
    description: `Any part of \`${field}\`, case-insensitive. A page may have fewer items than its limit, even none, while \`hasMore\` is true.`,
  });

/** `?limit=&cursor=` of every list, with a list's own filters. */
export const ListQuery = <P extends TProperties>(filters: P = {} as P) =>
  Body({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Items on a page.' }),
    ),
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2000, description: 'The nextCursor of the page before.' }),
    ),
    ...filters,
  });

/** `?order=` of lists that are oldest first by default; a cursor is valid only for its order. */
export const ORDER = {
  order: Type.Optional(
    Enum(['asc', 'desc'], { description: 'asc (default): oldest first; desc: newest first.' }),
  ),
};

export const WaitQuery = Body({
  waitSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 30,
      description:
        'Answer when the resource has reached its end, or after this many seconds with its current state.',
    }),
  ),
});

export const ErrorBody = Type.Object(
  {
    ok: Type.Literal(false),
    error: Type.Object(
      {
        code: Type.String({
          examples: ['invalid_request'],
          description: 'Stable, snake_case. Later versions may add codes.',
          'x-extensible-enum': Object.keys(CODES),
        }),
        message: Text('The request is invalid.', { description: 'For people: says what to do.' }),
        requestId: Text('req-7f3a'),
        fields: Type.Optional(
          Type.Array(
            Type.Object({
              path: Text('/name', {
                description: 'JSON pointer into the body, or /query/…, /headers/…, /params/….',
              }),
              message: Text('must be at most 200 characters'),
            }),
          ),
        ),
        operationId: Type.Optional(Id('op')),
        reason: Type.Optional(
          Enum(
            [
              'run',
              'exec',
              'apply',
              'build',
              'pull_request',
              'conflicting',
              'draft',
              'checks',
              'review_required',
              'method',
              'protected',
            ],
            { description: 'What keeps a thread busy, or why a merge is refused.' },
          ),
        ),
        current: Type.Optional(
          Type.Object({
            version: Type.Optional(Counter),
            titleVersion: Type.Optional(Counter),
            archiveVersion: Type.Optional(Counter),
          }),
        ),
      },
      { additionalProperties: true },
    ),
  },
  { $id: 'Error' },
);
