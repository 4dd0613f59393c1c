/** `headrace api`: any operation, by its method and path. */
import { createHash } from 'node:crypto';
import type { RequestOptions } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { readBytes } from '../core/input.ts';
import { fieldsOf } from './fields.ts';
import type { Json } from './fields.ts';

export interface ApiOptions {
  'raw-field': string[];
  field: string[];
  input: string | undefined;
  header: string[];
  include: boolean;
  paginate: boolean;
  timeout: number | undefined;
}
interface Sent {
  method: string;
  path: string;
  options: RequestOptions & { query: Record<string, string | number | boolean | string[]> };
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export async function callApi(
  cli: Cli,
  method: string | undefined,
  path: string,
  options: ApiOptions,
): Promise<void> {
  if (options.include && cli.isJson) throw usage('--include and --json exclude each other.');
  const sent = await requestOf(cli, method, path, options);
  if (options.paginate && sent.method !== 'GET')
    throw usage('--paginate is for lists, which are read by GET.');
  if (options.paginate) return allPages(cli, sent);
  await printAnswer(cli, await send(cli, sent), options.include);
}

async function requestOf(
  cli: Cli,
  givenMethod: string | undefined,
  givenPath: string,
  options: ApiOptions,
): Promise<Sent> {
  const fields = await fieldsOf(cli, options['raw-field'], options.field);
  const bytes = options.input === undefined ? undefined : await readBytes(cli, options.input, Infinity);
  const hasBody = bytes !== undefined || Object.keys(fields).length > 0;
  const method = (givenMethod ?? (hasBody && !options.paginate ? 'POST' : 'GET')).toUpperCase();
  if (!METHODS.includes(method))
    throw usage(`${JSON.stringify(givenMethod)} is no method: ${METHODS.join(', ')}.`);
  if (method === 'GET' && bytes !== undefined) throw usage('GET has no body: leave --input out.');
  const { path, query } = await placeOf(cli, givenPath);
  const headers = headersOf(options.header);
  const isQuery = method === 'GET' || bytes !== undefined;
  return {
    method,
    path,
    options: {
      query: isQuery ? { ...query, ...queryOf(fields) } : query,
      ...(isQuery ? {} : { body: Object.keys(fields).length > 0 ? fields : undefined }),
      ...(bytes && { body: bytes, contentType: headers['content-type'] ?? 'application/json' }),
      headers: { accept: '*/*', ...headers },
      ...(options.timeout !== undefined && { timeoutMs: options.timeout, attemptTimeoutMs: options.timeout }),
      signal: cli.signal,
    },
  };
}

const APP = /(?<=\/)(?::(?:app|appId|projectId)|\{(?:app|appId|projectId)\})(?=\/|$)/g;

/** `{app}` and `:app` are the app of the command. */
async function placeOf(cli: Cli, given: string) {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(given))
    throw usage(`${JSON.stringify(given)} is an address: give a path, such as /api/models, and --url.`);
  const [before, search = ''] = given.split(/\?(.*)/s) as [string, string?];
  const path = before.startsWith('/') ? before : `/${before}`;
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(search)) (query[name] ??= []).push(value);
  if (path.search(APP) === -1) return { path, query };
  const id = await cli.appId();
  return { path: path.replace(APP, encodeURIComponent(id)), query };
}

function headersOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((line) => {
      const [, name, value] = /^([\w-]+):\s*(.*)$/s.exec(line) ?? [];
      if (name === undefined) throw usage(`${JSON.stringify(line)} is no header: write NAME: VALUE.`);
      return [name.toLowerCase(), value!];
    }),
  );
}

function queryOf(fields: Json): Record<string, string | number | boolean | string[]> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (Array.isArray(value)) return [name, value.map(String)];
      if (typeof value === 'object') throw usage(`${JSON.stringify(name)} cannot be in a query.`);
      return [name, value as string | number | boolean];
    }),
  );
}

/** A write's key is that of the command, unless a header gives one. */
function send(cli: Cli, { method, path, options }: Sent): Promise<Response> {
  if (method === 'GET') return cli.client.request(method, path, options);
  const { query, body } = options;
  const content = body instanceof Uint8Array ? createHash('sha256').update(body).digest('hex') : body;
  const idempotencyKey =
    options.headers?.['idempotency-key'] ?? cli.writeKey(JSON.stringify([method, path, query, content]));
  return cli.client.request(method, path, { ...options, idempotencyKey });
}

async function printAnswer(cli: Cli, answer: Response, isHeaded: boolean): Promise<void> {
  if (isHeaded) printHead(cli, `${answer.status} ${answer.statusText}`, answer.headers);
  const type = answer.headers.get('content-type') ?? '';
  if (cli.isTerminal || cli.isJson) {
    if (/\bjson\b/.test(type)) return printDocument(cli, await answer.text());
    if (cli.isJson || !type.startsWith('text/')) {
      await answer.body?.cancel();
      if (!type) return;
      throw usage(
        `The answer is ${type}: ${cli.isJson ? 'leave --json out' : 'send it to a file, with > FILE'}.`,
      );
    }
  }
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    await cli.printPart(cli.isTerminal ? decoder.decode(chunk, { stream: true }) : chunk);
  }
}

function printDocument(cli: Cli, text: string): void {
  const document = JSON.parse(text) as Json;
  if (cli.globals.jsonl) for (const line of linesOf(document)) cli.printLine(line);
  else cli.printRaw(`${JSON.stringify(document, null, 2)}\n`);
}

/** The items of a list; anything else is one line. */
function linesOf(document: Json): unknown[] {
  const member = listOf(document);
  return member === undefined ? [document] : (document[member] as unknown[]);
}

const listOf = (document: Json): string | undefined =>
  'nextCursor' in document ? Object.keys(document).find((name) => Array.isArray(document[name])) : undefined;

/** One document with all items; with --jsonl a line each, as they arrive. */
async function allPages(cli: Cli, sent: Sent): Promise<void> {
  const items: unknown[] = [];
  for (let { query } = sent.options; ;) {
    const answer = await send(cli, { ...sent, options: { ...sent.options, query } });
    const document = (await answer.json()) as Json;
    const member = listOf(document);
    if (member === undefined) throw usage('The answer is no list: leave --paginate out.');
    const page = document[member] as unknown[];
    if (cli.globals.jsonl) for (const item of page) cli.printLine(item);
    else items.push(...page);
    if (document.hasMore === true && typeof document.nextCursor === 'string') {
      query = { ...query, cursor: document.nextCursor };
      continue;
    }
    if (!cli.globals.jsonl) printDocument(cli, JSON.stringify({ ...document, [member]: items }));
    return;
  }
}

function printHead(cli: Cli, status: string, headers: Headers): void {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  cli.printRaw(`${[`HTTP ${status.trim()}`, ...lines].join('\n')}\n\n`);
}
