/**
 * A valid request for every operation through its method in `@headrace/client`: it sends the generated request, and
 * returns the content of the answer. Streams, and deliveries from other services, have no such method.
 */
import { isDeepStrictEqual } from 'node:util';
import { createClient } from '@headrace/client';
import { FEEDS, METHODS } from '../../../packages/client/generator/names.ts';
import type { Random } from '../../harness/random.ts';
import type { Operation } from './document.ts';
import { judge } from './judge.ts';
import type { Sending } from './sending.ts';
import { shuffled } from './shuffled.ts';
import { drawSpecimen, requestOf, targetOf } from './specimen.ts';
import type { Specimen } from './specimen.ts';
import { shown } from './tally.ts';
import type { Answer } from './wire.ts';

const LANES = 4;
/** Requests that other services send and sign. */
const OF_OTHERS = ['scm.receiveWebhook', 'automations.receiveHook'];

/** The other path forms of an operation, which have the same URL. */
export const isOfClient = ({ id, base, isStream }: Operation): boolean =>
  !isStream && !id.endsWith('.byProject') && !OF_OTHERS.includes(base);

export async function sendByClient(sending: Sending, operations: Operation[], random: Random): Promise<void> {
  const queue = shuffled(operations.filter(isOfClient), random);
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (let operation = queue.pop(); operation && !sending.signal.aborted; operation = queue.pop())
        await sendOne(sending, operation, random.fork(operation.id));
    }),
  );
}

async function sendOne(
  { document, world, tally }: Sending,
  operation: Operation,
  random: Random,
): Promise<void> {
  const { specimen, after } = await drawSpecimen({ world, operation, random, isPlain: true });
  const plain = { ...specimen, headers: [] };
  const { seen, returned } = await call(world.calls.base, plain);
  tally.count('sent');
  const wanted = requestOf(plain);
  const faults = seen
    ? [
        ...sentFaults(plain, seen),
        ...judge(document, operation, seen.answer, wanted.method),
        ...resultFaults(operation, seen.answer, returned),
      ]
    : [`sends nothing: ${String(returned)}`];
  for (const fault of faults)
    tally.fault(`${operation.id} by the client: ${fault}`, () => (seen ? shown(wanted, seen.answer) : fault));
  const isMade =
    seen && seen.answer.status < 300 && seen.answer.headers.get('content-type')?.[0]?.includes('json');
  await after?.(isMade ? (JSON.parse(seen.answer.body.toString()) as Record<string, unknown>) : undefined);
}

/** What was sent and received, as the client's fetch saw it. */
interface Seen {
  method: string;
  url: URL;
  headers: Headers;
  body: unknown;
  answer: Answer;
}

/** What the method returns, or throws. */
async function call(
  base: string,
  specimen: Specimen,
): Promise<{ seen: Seen | undefined; returned: unknown }> {
  let seen: Seen | undefined;
  const client = createClient({
    baseUrl: base,
    key: 'none',
    async fetch(input, init = {}) {
      const headers = new Headers(init.headers);
      headers.delete('x-api-key');
      for (const [name, value] of specimen.actor) headers.set(name, value);
      const response = await fetch(input, { ...init, headers });
      seen = {
        method: init.method ?? 'GET',
        url: new URL(input as string),
        headers,
        body: typeof init.body === 'string' ? JSON.parse(init.body) : init.body,
        answer: await answerOf(response.clone()),
      };
      return response;
    },
  });
  try {
    return { returned: await methodOf(client as never, specimen), seen };
  } catch (error) {
    return { returned: error, seen };
  }
}

type Method = (...args: unknown[]) => PromiseLike<unknown>;
type Methods = Record<string, Record<string, Method>> & Record<string, Method>;

function methodOf(
  client: Record<string, (id: unknown) => Methods> & Methods,
  specimen: Specimen,
): PromiseLike<unknown> {
  const { operation, body, key } = specimen;
  const ids = idsOf(specimen);
  const options = { ...specimen.query, ...(key !== undefined && { idempotencyKey: key }) };
  const feed = FEEDS[operation.base]?.split('.')[1];
  if (feed !== undefined) return readFeed(client, feed, { ids, specimen });
  const [resource, name] = METHODS[operation.base]!.split('.') as [string, string];
  const isDirect = operation.id.endsWith('.direct');
  const [owner] = isDirect ? [operation.path.startsWith('/api/threads/') ? 'thread' : 'project'] : [];
  const target: Methods = owner ? client[owner]!(ids.shift()) : client;
  const methods = owner && resource === `${owner}s` ? target : target[resource]!;
  const { properties, anyOf, oneOf } = operation.body?.schema ?? {};
  const hasBody = [properties ?? {}, anyOf ?? [], oneOf ?? []].some((one) => Object.keys(one).length > 0);
  return methods[name]!(...ids, ...(hasBody ? [body] : []), options);
}

/** Feeds are named by their content; the filters are part of that name. */
function readFeed(
  client: Methods,
  name: string,
  { ids, specimen: { operation, query } }: { ids: unknown[]; specimen: Specimen },
): PromiseLike<unknown> {
  const { projectId, threadId, runId, types, ...options } = query;
  const feed = {
    ...(operation.path.startsWith('/api/platform/')
      ? ids.length
        ? { appId: ids[0] }
        : {}
      : { direct: true, projectId }),
    threadId,
    runId,
    types: types?.split(','),
  };
  return client['events']![name]!(feed, options);
}

const idsOf = ({ operation, path }: Specimen): string[] => {
  const pattern = new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`);
  return pattern.exec(path)!.slice(1).map(decodeURIComponent);
};

const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  headers: new Map([...response.headers].map(([name, value]) => [name, [value]])),
  body: Buffer.from(await response.arrayBuffer()),
});

function sentFaults(specimen: Specimen, { method, url, headers, body }: Seen): string[] {
  const { operation, path, key } = specimen;
  const wanted = new URL(targetOf(specimen), url);
  const pairs = ({ searchParams }: URL) => [...searchParams].map((pair) => pair.join('=')).toSorted();
  return [
    ...(method === operation.method ? [] : [`sends ${method}`]),
    ...(url.pathname === path ? [] : [`sends to another path`]),
    ...(isDeepStrictEqual(pairs(url), pairs(wanted)) ? [] : [`sends another query: ${url.search}`]),
    // A body without members may be omitted.
    ...(isDeepStrictEqual(body ?? {}, specimen.body ?? {}) ? [] : ['sends another body']),
    ...(key === undefined || headers.get('idempotency-key') === key ? [] : ['sends another key']),
    ...(body === undefined || headers.get('content-type') === 'application/json'
      ? []
      : ['sends another type']),
  ];
}

/** The only documented member other than `ok`, or all members; a page's items; bytes unchanged. */
function resultFaults(operation: Operation, { status, headers, body }: Answer, returned: unknown): string[] {
  if (status < 200 || status >= 300) return [`a valid request is refused: ${status} ${String(returned)}`];
  if (returned instanceof Error) return [`throws ${String(returned)}`];
  if (!headers.get('content-type')?.[0]?.startsWith('application/json'))
    return returned instanceof Uint8Array && Buffer.from(returned).equals(body)
      ? []
      : ['returns other bytes'];
  const { ok: _, ...members } = JSON.parse(body.toString()) as Record<string, unknown>;
  const wanted = contentOf(operation.responses.get(status)!.members, members);
  return isDeepStrictEqual(returned, wanted) ? [] : [`returns ${JSON.stringify(returned)?.slice(0, 200)}`];
}

function contentOf(documented: readonly string[], members: Record<string, unknown>): unknown {
  const names = documented.filter((name) => name !== 'ok');
  if (names.includes('nextCursor') && !names.includes('events')) {
    // The items come first; what else the answer says is a member of the page, too.
    const { nextCursor, hasMore, ...rest } = members;
    const [[, items], ...further] = Object.entries(rest) as [[string, unknown], ...[string, unknown][]];
    return { items, nextCursor, hasMore, ...Object.fromEntries(further) };
  }
  return names.length > 1 ? members : names.length === 1 ? members[names[0]!] : undefined;
}
