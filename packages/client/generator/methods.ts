/** The client's methods: their signatures, and the table from which `client.ts` makes them. */
import type { OpenApi, Operation, Schema } from './document.ts';
import { operationsOf } from './document.ts';
import { FEEDS, HANDSHAKES, METHODS } from './names.ts';
import { comment, typeOf } from './types.ts';

const APP = '/api/platform/v1/apps/{appId}';
const THREAD = `${APP}/threads/{threadId}`;
/** What `.done()` waits for, by the member of the answer that shows it. */
const WAITED: Readonly<Record<string, readonly string[]>> = {
  run: ['Run'],
  apply: ['Apply'],
  build: ['Build'],
  setup: ['Setup'],
  preview: ['Preview'],
  execution: ['Execution', 'ExecutionDetail'],
};

export interface Method {
  resource: string;
  name: string;
  operation: Operation;
  hasDirectForm: boolean;
}

/** Throws for an operation without a name in `names.ts`, and for a name without an operation. */
export function methodsOf(document: OpenApi): Method[] {
  const operations = operationsOf(document).filter(({ id }) => !HANDSHAKES.includes(id));
  const known = new Set(operations.map(({ id }) => id));
  const lost = [...Object.keys(METHODS), ...Object.keys(FEEDS)].filter((id) => !known.has(id));
  const unnamed = [...known].filter((id) => !METHODS[id] && !FEEDS[id]);
  if (lost.length || unnamed.length)
    throw new Error(
      `generator/names.ts names ${lost.join(', ') || 'nothing'} that is not there, and lacks ${unnamed.join(', ') || 'nothing'}.`,
    );
  const direct = new Set(operations.filter(({ spelling }) => spelling === 'direct').map(({ id }) => id));
  return operations
    .filter(({ id, spelling }) => spelling === '' && METHODS[id] !== undefined)
    .map((operation) => {
      const [resource, name] = METHODS[operation.id]!.split('.') as [string, string];
      return { resource, name, operation, hasDirectForm: direct.has(operation.id) };
    });
}

/** One line a method; `src/table.ts` explains its columns. */
export const tableOf = (methods: readonly Method[]): string =>
  methods
    .map(({ resource, name, operation, hasDirectForm }, index) => {
      const { method, takesKey } = operation;
      const flags = [
        hasDirectForm && 'd',
        takesKey && 'k',
        bodyOf(operation) && 'b',
        bodyOf(operation)?.orArchive && 'g',
        hasOperationId(operation) && 'o',
        isOrText(operation) && 't',
      ];
      return [
        // The resource only if it differs: repeating it would be a hundredth of the client's size.
        `${resource === methods[index - 1]?.resource ? '' : resource}.${name}`,
        method,
        shortPath(operation.path),
        answerOf(operation).column,
        flags.filter(Boolean).join(''),
      ]
        .join(' ')
        .trimEnd();
    })
    .join('\n');

const shortPath = (path: string): string =>
  path
    .replace(THREAD, 'T')
    .replace(APP, 'A')
    .replace(/^\/api\//, '/')
    .replaceAll(/\{\w+\}/g, ':');

/** The interfaces of all resources, and of the clients bound to an app, a project or a thread. */
export function interfacesOf(methods: readonly Method[]): string {
  const resources = Map.groupBy(methods, ({ resource }) => resource);
  const interfaces = [...resources].map(
    ([resource, list]) => `export interface ${interfaceName(resource)} {\n${list.map(signature).join('')}}\n`,
  );
  const all = [...resources.keys()].map((name) => `${name}: ${interfaceName(name)};\n`);
  return [
    ...interfaces,
    `/** What the client calls, by the document's resources. */\nexport interface Resources {\n${all.join('')}}\n`,
    handle(
      'AppResources',
      'one app',
      boundTo(methods, (path) => path.startsWith(`${APP}/`) || path === APP),
      1,
    ),
    handle('ProjectResources', 'one project, by the Direct API', boundTo(methods, isOfProject), 1),
    handle(
      'AppThreadResources',
      'one thread of an app',
      boundTo(methods, (path) => path.startsWith(THREAD)),
      2,
    ),
    handle('ThreadResources', 'one thread, by the Direct API', boundTo(methods, isOfThread), 1),
  ].join('\n');
}

type Chosen = (path: string, hasDirectForm: boolean) => boolean;
const isOfProject: Chosen = (path, hasDirectForm) =>
  (hasDirectForm && path.startsWith(APP) && !path.startsWith(THREAD)) ||
  path.startsWith('/api/projects/{projectId}');
const isOfThread: Chosen = (path, hasDirectForm) =>
  (hasDirectForm && path.startsWith(THREAD)) || path.startsWith('/api/threads/{threadId}');

const boundTo = (methods: readonly Method[], chosen: Chosen): Method[] =>
  methods.filter(({ operation, hasDirectForm }) => chosen(operation.path, hasDirectForm));

/** Methods without the bound ids, which are the first ones in the path. */
function handle(name: string, of: string, methods: readonly Method[], ids: number): string {
  const members = [...Map.groupBy(methods, ({ resource }) => resource)].map(([resource, list]) => {
    const counts = Map.groupBy(list, ({ operation }) =>
      operation.path.startsWith(THREAD) && name === 'ThreadResources' ? 2 : ids,
    );
    const types = [...counts].map(([count, some]) => {
      const picked = `Pick<${interfaceName(resource)}, ${some.map((method) => `'${method.name}'`).join(' | ')}>`;
      return count === 2 ? `Bound<Bound<${picked}>>` : `Bound<${picked}>`;
    });
    return `${resource}: ${types.join(' & ')};\n`;
  });
  return `/** Calls of ${of}, its ids left out. */\nexport interface ${name} {\n${members.join('')}}\n`;
}

const interfaceName = (resource: string): string => `${resource[0]!.toUpperCase()}${resource.slice(1)}Calls`;

function signature(method: Method): string {
  const { operation } = method;
  const ids = operation.pathParameters.map(
    ({ name }) => `${name}: ${NUMBERS.has(name) ? 'number | string' : 'string'}`,
  );
  const body = bodyOf(operation);
  const parameters = [
    ...ids,
    ...(body
      ? [`body${body.required ? '' : '?'}: ${inputName(operation)}${body.orArchive ? ' | Bytes' : ''}`]
      : []),
  ];
  const form = (options: string, type: string) =>
    `${comment(`${operation.summary}.`)}${method.name}(${[...parameters, options].join(', ')}): ${type};\n`;
  const own = form(optionsOf(operation), answerOf(operation).type);
  return isOrText(operation)
    ? form(`options: { format: 'markdown' } & CallOptions`, 'Call<string>') + own
    : own;
}

/** Ids that the service gives as numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['number', 'index']);

/** Whether the answer is text when the query asks for that format. */
const isOrText = ({ answer }: Operation): boolean => 'orText' in answer && answer.orText;

/** The bodies, each under the name of its operation. */
export const inputsOf = (methods: readonly Method[]): string =>
  methods
    .flatMap(({ operation }) => {
      const body = bodyOf(operation);
      if (!body) return [];
      const type = typeOf(withoutOperationId(body.schema));
      return [`export type ${inputName(operation)} = ${type};\n`];
    })
    .join('');

const inputName = ({ id }: Operation): string => {
  const name = id.split('.')[1]!;
  return `${id.startsWith('scm.') ? 'Scm' : id.startsWith('automations.rotate') ? 'Automation' : id.startsWith('webhooks.rotate') ? 'Webhook' : ''}${name[0]!.toUpperCase()}${name.slice(1)}Input`;
};

/** A body without members leaves nothing for the caller to send. */
function bodyOf({ body }: Operation): Operation['body'] {
  const isEmpty =
    body?.schema.type === 'object' &&
    Object.keys(body.schema.properties ?? {}).length === 0 &&
    !body.schema.patternProperties;
  return isEmpty ? null : body;
}

const hasOperationId = ({ body }: Operation): boolean =>
  body?.schema.required?.includes('clientOperationId') ?? false;

/** The client fills this in: it is the key of the call. */
const withoutOperationId = (schema: Schema): Schema =>
  schema.required?.includes('clientOperationId')
    ? { ...schema, required: schema.required.filter((name) => name !== 'clientOperationId') }
    : schema;

/** Whether a project or a thread has the method on the Direct API. */
export const isBoundDirectly = ({ operation, hasDirectForm }: Method): boolean =>
  isOfProject(operation.path, hasDirectForm) || isOfThread(operation.path, hasDirectForm);

/** A readable call: the names of its parameters and of its own options, and what it returns. */
export function callOf(operation: Operation): { parameters: string; returns: string } {
  const body = bodyOf(operation);
  const options = operation.query
    .filter(({ name }) => name !== 'cursor' && name !== 'limit')
    .map(({ name, required }) => `${name}${required ? '' : '?'}`);
  const parameters = [
    ...operation.pathParameters.map(({ name }) => name),
    ...(body
      ? [`body${body.required ? '' : '?'}: ${inputName(operation)}${body.orArchive ? ' | Bytes' : ''}`]
      : []),
    ...(options.length ? [`{ ${options.join(', ')} }`] : []),
  ];
  return { parameters: parameters.join(', '), returns: returnedBy(operation) };
}

function returnedBy(operation: Operation): string {
  const { type } = answerOf(operation);
  const [, kind, inner = ''] = /^(\w+)<([\s\S]*)>$/.exec(type) ?? [];
  if (kind === 'ListCall') {
    const [, ...more] = listMembers(operation);
    return `list of \`${inner.replace(/,[\s\S]*/, '')}\`${more.map((name) => `, with \`${name}\``).join('')}`;
  }
  const [, answer = inner, done] = kind === 'WorkCall' ? (/^([\s\S]*), (\w+)$/.exec(inner) ?? []) : [];
  const shown = `\`${answer.includes('\n') ? membersOf(operation) : answer}\``;
  return done ? `${shown}, done: \`${done}\`` : answer === 'void' ? '' : shown;
}

/** An unnamed object, as the names of its members. */
function membersOf({ answer }: Operation): string {
  const { properties = {}, required = [] } = 'schema' in answer ? answer.schema : {};
  const names = Object.keys(properties).filter((name) => name !== 'ok');
  const object = names.length === 1 ? properties[names[0]!]! : { properties, required };
  const members = Object.keys(object.properties ?? {}).filter((name) => name !== 'ok');
  return `{ ${members.map((name) => `${name}${object.required?.includes(name) ? '' : '?'}`).join(', ')} }`;
}

function optionsOf(operation: Operation): string {
  const { query, method } = operation;
  const isPage = query.some(({ name }) => name === 'cursor') && query.some(({ name }) => name === 'limit');
  const base = isPage ? 'PageOptions' : method === 'GET' ? 'CallOptions' : 'WriteOptions';
  const others = isPage ? ['cursor', 'limit'] : isOrText(operation) ? ['format'] : [];
  const own = query.filter(({ name }) => !others.includes(name));
  const isRequired = own.some(({ required }) => required);
  const members = own.map(({ name, required, schema }) => `${name}${required ? '' : '?'}: ${typeOf(schema)}`);
  return `options${isRequired ? '' : '?'}: ${members.length ? `{ ${members.join('; ')} } & ` : ''}${base}`;
}

/** Of a page: the list, and what stands beside it. */
function listMembers({ answer }: Operation): string[] {
  const names = 'schema' in answer ? Object.keys(answer.schema.properties ?? {}) : [];
  return names.filter((name) => !['ok', 'nextCursor', 'hasMore'].includes(name));
}

/** What a call returns, and how the table expresses it. */
function answerOf(operation: Operation): { column: string; type: string } {
  const { answer } = operation;
  if ('mediaType' in answer) return { column: 'bytes', type: 'Call<Uint8Array>' };
  const { ok: _, ...members } = answer.schema.properties ?? {};
  const names = Object.keys(members);
  if ('nextCursor' in members) {
    const [list, ...more] = listMembers(operation);
    const others = more.map((name) => `${name}: ${typeOf(members[name]!)}`).join('; ');
    const item = typeOf(members[list!]!.items ?? {});
    return { column: `[${list!}`, type: `ListCall<${item}${others && `, { ${others} }`}>` };
  }
  const waited = names.find((name) => WAITED[name]?.includes(typeOf(members[name]!)));
  const column = names.length === 1 ? names[0]! : names.length === 0 ? '-' : `*${waited ?? ''}`;
  const type =
    names.length === 1
      ? typeOf(members[names[0]!]!)
      : names.length === 0
        ? 'void'
        : typeOf({ ...answer.schema, properties: members });
  return {
    column,
    type: waited === undefined ? `Call<${type}>` : `WorkCall<${type}, ${typeOf(members[waited]!)}>`,
  };
}
