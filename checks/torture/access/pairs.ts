/** The same request twice: about what is there, and about what is nowhere. */
import { randomUUID } from 'node:crypto';
import type { Random } from '../../harness/random.ts';
import type { Actor } from '../requests/actors.ts';
import type { Operation, Schema } from '../requests/document.ts';
import { skillFile } from '../requests/exhibits.ts';
import type { Ids } from '../requests/exhibits.ts';
import { absentId, isAnId } from '../requests/mutations/paths.ts';
import { sample, sampleText } from '../requests/sample.ts';
import type { Json, JsonObject } from '../requests/sample.ts';
import { defined, requestOf, withKey } from '../requests/specimen.ts';
import type { Answer, Request } from '../requests/wire.ts';
import { exhibitName, pathOf } from '../requests/world.ts';

/** A caller with rights in another organization. */
export interface Stranger {
  actor: Actor;
  /** Ids in the caller's organization. */
  own: Ids;
  /** Ids in the organization that is asked about. */
  theirs: Ids;
}

export interface Pair {
  /** The id whose existence the answers reveal. */
  about: string;
  existing: Request;
  absent: Request;
}

/** What a plain body still needs to be looked at in full. */
const BODIES: Record<string, (given: JsonObject, ids: Ids) => Record<string, Json | undefined>> = {
  'edits.createEdit': () => ({ changes: CHANGES }),
  'skills.setAppSkill': (_, { name }) => ({ files: [skillFile(name!)] }),
  'skills.setOrganizationSkill': (_, { name }) => ({ files: [skillFile(name!)] }),
  'webhooks.createWebhook': () => ({ url: 'https://example.test' }),
  // One of two forms: both requests of the pair must use the same one.
  'sources.importSource': ({ baseSourceId }) =>
    baseSourceId === undefined
      ? { files: [], baseSourceId: undefined, changes: undefined }
      : { files: undefined, changes: CHANGES },
};
const CHANGES = [{ path: 'a', content: '' }];
/** The exhibit of a kind of id. */
const EXHIBIT: Record<string, string> = {
  prj: 'appId',
  src: 'sourceId',
  thr: 'threadId',
  run: 'runId',
  org: 'organizationId',
  task: 'taskId',
  aut: 'automationId',
};

const absentIds = (ids: Ids): Ids =>
  Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, isAnId(id) ? absentId(id) : id]));
/** Each repository has numbers and hashes of its own, each level names. */
const NO_IDS = new Set(['provider', 'index', 'token', 'number', 'commitSha', 'name']);
const namesOf = (operation: Operation) =>
  operation.pathParameters.map((name) => exhibitName(operation, name)).filter((name) => !NO_IDS.has(name));

/** Both answer with the same request id: apart from what an answer is about, nothing may differ. */
function ask(
  operation: Operation,
  ids: Ids,
  actor: Actor,
  values: Random,
  more: { body?: JsonObject; query?: Record<string, string> } = {},
): Request {
  // Both of a pair take the same values.
  const random = values.fork(operation.id);
  const key = operation.isWrite ? randomUUID() : undefined;
  const body = operation.body
    ? withKey(
        defined<Json>({
          ...(sample(operation.body.schema, random, 'plain') as JsonObject),
          ...BODIES[operation.base]?.(more.body ?? {}, ids),
          ...more.body,
        }),
        key,
      )
    : undefined;
  const query = {
    ...Object.fromEntries(
      operation.query
        .filter(({ required }) => required)
        .map(({ name, schema }) => [name, sampleText(schema, random, 'plain')]),
    ),
    ...more.query,
  };
  return requestOf({
    operation,
    path: pathOf(operation, ids),
    query,
    actor,
    headers: [['x-request-id', 'access']],
    key,
    body,
  });
}

/** All of the path's ids at once; one pair where there is none. */
export function pathPair(operation: Operation, theirs: Ids, actor: Actor, random: Random): Pair {
  return {
    about: 'all ids',
    existing: ask(operation, theirs, actor, random),
    absent: ask(operation, absentIds(theirs), actor, random),
  };
}

/** One id of the path after the other: those before it are the caller's own. */
export function positionPairs(
  operation: Operation,
  { own, theirs, actor }: Stranger,
  random: Random,
): Pair[] {
  const names = namesOf(operation);
  return names.map((name, at) => {
    const mixed = (others: Ids): Ids => ({
      ...own,
      ...Object.fromEntries(names.slice(at).map((one) => [one, others[one]!])),
    });
    return {
      about: name,
      existing: ask(operation, mixed(theirs), actor, random),
      absent: ask(operation, mixed(absentIds(theirs)), actor, random),
    };
  });
}

/**
 * Ids in the body and in the query, which the document's examples distinguish from other texts; the path is
 * the caller's own.
 */
export function inputPairs(operation: Operation, { own, theirs, actor }: Stranger, random: Random): Pair[] {
  const inputs = [
    ...Object.entries(operation.body?.schema.properties ?? {}).map(([name, schema]) => ({
      name,
      schema,
      at: 'body' as const,
    })),
    ...operation.query.map(({ name, schema }) => ({ name, schema, at: 'query' as const })),
  ];
  return inputs.flatMap(({ name, schema, at }) => {
    const exhibit = exhibitOf(schema);
    if (exhibit === undefined) return [];
    const withId = (id: string) => ask(operation, own, actor, random, { [at]: { [name]: id } });
    return [
      {
        about: `${at} ${name}`,
        existing: withId(theirs[exhibit]!),
        absent: withId(absentId(theirs[exhibit]!)),
      },
    ];
  });
}

function exhibitOf({ examples }: Schema): string | undefined {
  const [example] = examples ?? [];
  return typeof example === 'string' && isAnId(example)
    ? EXHIBIT[example.slice(0, example.indexOf('_'))]
    : undefined;
}

const CHANGING = new Set([
  'date',
  'ratelimit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-operation-id',
]);

/**
 * What a caller sees of an answer, but for what differs from request to request anyway: time, rate,
 * receipts and the events of the caller's own, positions in a feed.
 */
export function seen({ status, headers, body }: Answer): string {
  const told = [...headers]
    .filter(([name]) => !CHANGING.has(name))
    .map(([name, values]) => `${name}: ${values.join(', ')}`)
    .toSorted();
  return [
    status,
    ...told,
    body
      .toString()
      .replaceAll(/^(id: .*\n)?event: operation\.updated\n(data: .*\n)*\n?/gm, '')
      .replaceAll(/"(nextCursor|cursor)":"[^"]*"|^id: .*$/gm, '')
      .replaceAll(/\b[a-z]+_[0-9a-z]{26}\b/g, 'ID')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'),
  ].join('\n');
}
