/** One request in its parts, as it is drawn and as it is sent. */
import { randomUUID } from 'node:crypto';
import type { Actor } from './actors.ts';
import type { Operation } from './document.ts';
import type { Ids } from './exhibits.ts';
import { cursorFor, eventFilters, RECIPES } from './recipes.ts';
import type { Prepared } from './recipes.ts';
import { sample, sampleText } from './sample.ts';
import type { Json, JsonObject } from './sample.ts';
import type { Request } from './wire.ts';
import { pathOf } from './world.ts';
import type { Draw, World } from './world.ts';

export interface Specimen {
  operation: Operation;
  path: string;
  query: Record<string, string>;
  actor: Actor;
  headers: Actor;
  /** The Idempotency-Key. */
  key: string | undefined;
  body: JsonObject | undefined;
  gzip?: Buffer | undefined;
}

/** A valid request, with all that it needs made. */
export async function drawSpecimen(draw: Draw): Promise<{ specimen: Specimen; after: Prepared['after'] }> {
  const { world, operation, random } = draw;
  const prepared = (await RECIPES[operation.base]?.(draw)) ?? {};
  const ids: Ids = { ...world.exhibits.ids, ...prepared.ids };
  const actor = prepared.actor ?? actorFor(draw);
  const query = drawQuery(draw, {
    ...(operation.path.includes('/events') ? eventFilters(draw) : {}),
    ...prepared.query,
  });
  if ('cursor' in query) {
    const cursor = await cursorFor(draw, ids, query, actor);
    if (cursor === undefined) delete query.cursor;
    else query.cursor = cursor;
  }
  const key =
    operation.isWrite &&
    (!isSession(actor) || operation.path.startsWith('/api/service-accounts') || random.next() < 0.5)
      ? randomUUID()
      : undefined;
  // The document leaves some bodies to who sends them.
  const body = !operation.body
    ? prepared.body && defined(prepared.body)
    : prepared.gzip
      ? undefined
      : drawBody(draw, prepared.body ?? {}, key);
  return {
    specimen: {
      operation,
      path: pathOf(operation, ids),
      query,
      actor,
      headers: prepared.headers ?? [],
      key,
      body,
      gzip: prepared.gzip,
    },
    after: prepared.after,
  };
}

const isSession = (actor: Actor) => actor.some(([name]) => name === 'cookie');

function actorFor({ world, operation, random, isPlain }: Draw): Actor {
  if (operation.isPublic) return [];
  if (!operation.takesKey) return world.owner;
  return isPlain ? world.key : random.pick([world.key, world.bearer, world.owner]);
}

/** `waitSeconds` is left out or short: what is waited for is there already. */
function drawQuery(
  { operation, random, isPlain }: Draw,
  given: Record<string, string | undefined>,
): Record<string, string> {
  const drawn = operation.query
    .filter(({ name, required }) => !(name in given) && (required || (!isPlain && random.next() < 0.4)))
    .map(({ name, schema }): [string, string] => [
      name,
      name === 'waitSeconds' ? String(random.below(2)) : sampleText(schema, random),
    ]);
  const query: Record<string, string> = { ...Object.fromEntries(drawn), ...defined(given) };
  // Nothing comes before the oldest event: the document cannot say that only one of both may be given.
  if (query['order'] === 'desc') delete query['waitSeconds'];
  return query;
}

export const defined = <T>(members: Record<string, T | undefined>) =>
  Object.fromEntries(Object.entries(members).filter((pair): pair is [string, T] => pair[1] !== undefined));

function drawBody(
  { operation, random, isPlain }: Draw,
  given: Record<string, Json | undefined>,
  key: string | undefined,
): JsonObject {
  const drawn = sample(operation.body!.schema, random, isPlain ? 'plain' : 'usual') as JsonObject;
  const body = defined({ ...drawn, ...given });
  return withKey(body, key);
}

/** The older members that have to equal the key; without a key they are it, so that they have to be new. */
export function withKey(body: JsonObject, key: string = randomUUID()): JsonObject {
  for (const name of ['clientOperationId', 'clientMessageId']) if (name in body) body[name] = key;
  if (body.message !== null && typeof body.message === 'object' && 'clientMessageId' in body.message)
    body.message.clientMessageId = key;
  return body;
}

/** A request that names the exhibits and is refused for what is then done to it; nothing is made for it. */
export function restingSpecimen({ world, operation, random }: Draw): Specimen {
  const actor =
    restingActor(world, operation) ??
    (operation.isPublic ? [] : operation.takesKey ? world.key : world.owner);
  const key = operation.isWrite ? randomUUID() : undefined;
  return {
    operation,
    path: pathOf(operation, world.exhibits.ids),
    actor,
    headers: [],
    key,
    query: Object.fromEntries(
      operation.query
        .filter(({ required }) => required)
        .map(({ name, schema }) => [name, sampleText(schema, random, 'plain')]),
    ),
    body: operation.body
      ? withKey(sample(operation.body.schema, random, random.pick(['usual', 'rich'])) as JsonObject, key)
      : undefined,
  };
}

function restingActor(world: World, { base }: Operation): Actor | undefined {
  if (base === 'accounts.signOut') return world.leaver;
  return base === 'accounts.switchOrganization' ? world.wanderer : undefined;
}

export const targetOf = ({ path, query }: Pick<Specimen, 'path' | 'query'>) =>
  path +
  (Object.keys(query).length
    ? `?${Object.entries(query)
        .map((pair) => pair.map(encodeURIComponent).join('='))
        .join('&')}`
    : '');

/** `bytes` in place of the body's JSON. */
export function requestOf(
  specimen: Specimen,
  bytes: Buffer | undefined = specimen.gzip ?? (specimen.body && Buffer.from(JSON.stringify(specimen.body))),
): Request {
  const { operation, actor, headers, key, gzip } = specimen;
  return {
    method: operation.method,
    target: targetOf(specimen),
    headers: [
      ...actor,
      ...headers,
      ...(key === undefined ? [] : [['idempotency-key', key] as [string, string]]),
      ...(bytes
        ? [['content-type', gzip ? 'application/gzip' : 'application/json'] as [string, string]]
        : []),
    ],
    ...(bytes ? { body: bytes } : {}),
  };
}
