/** Makes the methods of all resources from the generated table. */
import { Call, ListCall, WorkCall } from './call.ts';
import { TABLE } from './generated/table.ts';
import { jsonWith, segmentOf } from './http.ts';
import type { Http, Query, Read, Request } from './http.ts';
import type { CallOptions, Page, WriteOptions } from './options.ts';
import { workOf } from './work.ts';

/** The Platform API's paths with apps, or the Direct API's with projects. */
export type Api = 'platform' | 'direct';

interface Row {
  resource: string;
  name: string;
  method: string;
  /** `A` is an app and `T` a thread of it, `:` an id, anything else follows `/api`. */
  path: string;
  /** A member of the answer; `[` a page of them; `*` all members (then what `.done()` waits for); `-` nothing. */
  answer: string;
  hasDirectForm: boolean;
  takesKey: boolean;
  hasBody: boolean;
  /** The body may be a tar.gz. */
  orArchive: boolean;
  /** The answer may be text. */
  orText: boolean;
  /** The body repeats the key as `clientOperationId`. */
  hasOperationId: boolean;
}

/** The resource of this row, and of the following rows that name none. */
let resource = '';
const ROWS: readonly Row[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [name, method, path, answer, flags = ''] = line.split(' ') as [
      string,
      string,
      string,
      string,
      string?,
    ];
    const [given, method_] = name.split('.') as [string, string];
    resource = given || resource;
    return {
      resource,
      name: method_,
      method,
      path,
      answer,
      hasDirectForm: flags.includes('d'),
      takesKey: flags.includes('k'),
      hasBody: flags.includes('b'),
      orArchive: flags.includes('g'),
      orText: flags.includes('t'),
      hasOperationId: flags.includes('o'),
    };
  });

const ROOTS: Record<Api, { A: string; T: string }> = {
  platform: { A: '/api/platform/v1/apps/:', T: '/api/platform/v1/apps/:/threads/:' },
  direct: { A: '/api/projects/:', T: '/api/threads/:' },
};

/** The whole path; `:` is an id. */
export function pathOf(row: Pick<Row, 'path'>, api: Api): string {
  const { path } = row;
  if (isOfAppOrThread(row)) return ROOTS[api][path[0] as 'A' | 'T'] + path.slice(1);
  return path.startsWith('/health') ? path : `/api${path}`;
}

const isOfAppOrThread = ({ path }: Pick<Row, 'path'>) => /^[AT](\/|$)/.test(path);

const MINUTES = 60_000;
/** Operations that take longer than the usual two minutes. A command may run for ten, after waiting for a slot. */
const SLOW_MS: Readonly<Record<string, number>> = {
  'execs.create': 13 * MINUTES,
  'sources.import': 10 * MINUTES,
  'sources.archive': 10 * MINUTES,
  'builds.artifact': 10 * MINUTES,
};

export type Methods = Record<string, Record<string, (...args: never[]) => unknown>>;

/** All resources; or with `ids`, the calls whose paths begin with what they name, without these ids. */
export function makeResources(http: Http, api: Api, root = '', ids: readonly string[] = []): Methods {
  const resources: Methods = {};
  for (const row of ROWS) {
    const path = pathOf(row, api);
    if (
      root !== '' &&
      (!isBelow(path, root) || (api === 'direct' && isOfAppOrThread(row) && !row.hasDirectForm))
    )
      continue;
    const methods = (resources[row.resource] ??= {});
    methods[row.name] = (...args: unknown[]) => callOf(http, row, path, [...ids, ...args]);
  }
  return resources;
}

const isBelow = (path: string, root: string) => path === root || path.startsWith(`${root}/`);

function callOf(http: Http, row: Row, template: string, args: readonly unknown[]): Call<unknown> {
  const count = template.split(':').length - 1;
  const ids = args.slice(0, count);
  const label = `${row.resource}.${row.name}`;
  const path = pathWith(label, template, ids);
  const body = row.hasBody ? args[count] : undefined;
  const { signal, timeoutMs, attemptTimeoutMs, headers, idempotencyKey, ...query } = (args[
    count + Number(row.hasBody)
  ] ?? {}) as WriteOptions & Query;
  const options: CallOptions = {
    signal,
    headers,
    timeoutMs: timeoutMs ?? SLOW_MS[label],
    attemptTimeoutMs: attemptTimeoutMs ?? SLOW_MS[label],
  };
  const key = row.takesKey ? { key: idempotencyKey ?? http.nextKey(label) } : {};
  const request: Request = {
    ...defined(options),
    method: row.method,
    path,
    ...(isOnce(row) && { attempts: 1 }),
    // A read may have a parameter of that name.
    query: row.takesKey ? query : { ...query, idempotencyKey },
    ...key,
    ...(row.hasBody && {
      body: row.hasOperationId ? { clientOperationId: key.key, ...(body as object) } : body,
    }),
    ...(row.orArchive && isArchive(body) && { contentType: 'application/gzip' }),
  };
  return answerOf(http, row, request);
}

/** Without a key, an attempt with a lost answer may have had its effect. The previews only read. */
const isOnce = ({ resource, method, takesKey }: Row): boolean =>
  method !== 'GET' && !takesKey && resource !== 'applies';

const isArchive = (body: unknown) =>
  typeof body === 'function' ||
  body instanceof Uint8Array ||
  body instanceof Blob ||
  body instanceof ReadableStream;

function answerOf(http: Http, { answer, orText }: Row, request: Request): Call<unknown> {
  if (answer === 'bytes')
    return new Call(http, { ...request, headers: { accept: '*/*', ...request.headers } }, readBytes);
  if (answer === '-') return new Call(http, request, async (response) => void (await response.arrayBuffer()));
  if (answer.startsWith('[')) return new ListCall(http, request, pageReader(answer.slice(1)));
  const isWhole = answer.startsWith('*');
  const member = isWhole ? answer.slice(1) : answer;
  const readMembers = jsonWith<Record<string, unknown>>(isWhole ? 'ok' : answer);
  const read: Read<unknown> = async (response) => {
    if (orText && response.headers.get('content-type')?.startsWith('text/')) return response.text();
    const { ok: _, ...members } = await readMembers(response);
    return isWhole ? members : members[answer];
  };
  const work = workOf(http, member, request.path);
  if (!work) return new Call(http, request, read);
  const of = (given: unknown) => (isWhole ? (given as Record<string, unknown>)[member] : given) ?? null;
  return new WorkCall(http, request, read, { ...work, of });
}

const readBytes: Read<Uint8Array> = async (response) => new Uint8Array(await response.arrayBuffer());

function pageReader(member: string): Read<Page<unknown>> {
  const readPage = jsonWith<Record<string, unknown>>(member, 'nextCursor');
  return async (response) => {
    const { ok: _, [member]: items, ...page } = await readPage(response);
    return { items, ...page } as Page<unknown>;
  };
}

function pathWith(label: string, template: string, ids: readonly unknown[]): string {
  let n = 0;
  return template.replaceAll(':', () => segmentOf(ids[n++], `${label}: id ${n}`));
}

const defined = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
