/** `docs/reference/client.md`: every method in tables, and the handwritten parts as their sources declare them. */
import { declarationOf, interfaceMembers } from './declarations.ts';
import { callOf, isBoundDirectly } from './methods.ts';
import type { Method } from './methods.ts';

interface HandWritten {
  folder: string;
  /** The interface that declares the methods. */
  name: string;
  text: string;
}

/** Handwritten methods, by resource. */
const HAND_WRITTEN: Readonly<Record<string, HandWritten>> = {
  threads: {
    folder: '',
    name: 'Following',
    text: 'For a bound thread; `headrace.threads.follow` takes the ids of the app and the thread first:',
  },
  operations: { folder: '', name: 'Receipts', text: 'Also:' },
  events: { folder: 'events', name: 'Events', text: 'For the feeds:' },
};

interface Section {
  title: string;
  text?: string;
  /** Names by the folder of `src` that declares them. */
  declared?: Readonly<Record<string, string>>;
}

/** The declarations in the sections below the tables. */
const SECTIONS: readonly Section[] = [
  {
    title: 'The client and its options',
    declared: {
      '': 'ClientOptions Bytes CallOptions WriteOptions PageOptions RequestOptions DoneOptions Page ResponseInfo',
    },
  },
  {
    title: 'Events and followed threads',
    declared: {
      events:
        'AppFeed DirectFeed EventPage EventListOptions ReplayOptions PatienceOptions ReaderState StreamItem ' +
        'StreamOptions Draft ViewOptions',
      follow: 'HistoryItem FollowItem FollowOptions',
    },
  },
  {
    title: 'Errors',
    text: `A \`HeadraceError\` has \`code\`, \`status\` (0: no answer), \`message\`, \`fields\`, \`requestId\`, \`operationId\`,
\`details\`, \`retryable\` and \`retryAfterMs\`. \`isCode(error, code)\` narrows \`details\`. An \`UncertainError\` also has
\`idempotencyKey\` and \`recheck()\`.`,
    declared: { '': 'Field ClientErrorCode DetailsByCode' },
  },
  {
    title: 'Decisions on conflicts',
    text: 'One apply takes at most `MAX_RESOLUTIONS`: 1,000.',
    declared: { '': 'compactResolutions' },
  },
  {
    title: '`@headrace/client/files`',
    text: `What \`push\` does with a folder, for pages, where a folder is dropped: the patterns of \`.gitignore\` and
\`.headraceignore\` (\`IgnoreRules\`), the rules for the files of a source with the service's messages (\`BundleFaults\`,
\`RULES\`, \`MAX_FILES\`, \`MAX_BYTES\`, \`MAX_FILE_BYTES\`), and the parts of a tar (\`headersOf\`, \`padding\`, \`END\`) for
\`sources.import\`. \`parseEnvFile\` reads the text of a \`.env\` file as Node's \`util.parseEnv\` does.`,
  },
  {
    title: '`@headrace/client/node`',
    text: 'Pushes folders as versions of an app, and pulls versions into folders.',
    declared: {
      node:
        'push PushOptions PushedSource plan PlanOptions Progress Plan pull PullOptions pullArtifact extract ' +
        'ExtractOptions Installed readArtifact ArtifactFile readFolder ReadFolder',
    },
  },
  {
    title: '`@headrace/client/webhooks`',
    declared: { '': 'verifyWebhook WebhookEvent VerifyOptions WebhookFault' },
  },
  {
    title: '`@headrace/client/testing`',
    text: 'An in-memory service that answers `fetch`.',
    declared: {
      testing: 'createTestService TestServiceOptions TestService Failure Shell ShellResult BuildScript',
    },
  },
];

const INTRODUCTION = `<!-- Made from openapi.json and the client's sources by \`npm run openapi\`. Do not edit. -->

# Reference of @headrace/client

[The guide](../guides/integrate.md) shows how the parts work together. \`createClient(options)\` returns a client with
the resources below.

- Ids come first, in the order of the path, then the body, then the options. Every call takes \`CallOptions\`; a write
  also takes \`WriteOptions\`, and a list \`PageOptions\`. The tables name further options: they are query parameters.
- A call is sent when it is awaited. \`.withResponse()\` also returns the request id, the receipt and the rate limit.
  \`.asResponse()\` returns the \`Response\` with its body unread.
- *list of* means: \`await\` returns one \`Page\`, \`for await\` yields every item of all pages.
- *done* means: \`.done()\` waits for the end of the work and returns this type.
- \`headrace.app(appId)\` and its \`.thread(threadId)\` have the same methods without these ids. The calls of the
  resource itself are at the top: \`headrace.app(appId).get()\`.
- A dot (•) marks methods that are also in \`headrace.project(projectId)\` or \`headrace.thread(threadId)\`, on the
  Direct API, without the ids of the app and the thread.
- \`headrace.operation(key, work)\` calls \`work\` with a client that derives the keys of its writes from \`key\`.
- \`headrace.request(method, path, options)\` calls any operation by its path. It takes \`RequestOptions\`, and returns
  the successful \`Response\` with its body unread.
`;

const HEADER = `| Method | Returns | | HTTP | Permission |
| - | - | - | - | - |
`;

export function referenceOf(methods: readonly Method[]): string {
  const resources = Map.groupBy(methods, ({ resource }) => resource);
  const names = new Set([...resources.keys(), ...Object.keys(HAND_WRITTEN)]);
  const tables = [...names].flatMap((resource) => {
    const rows = resources.get(resource)?.map(row).join('').trimEnd();
    const own = HAND_WRITTEN[resource];
    return [
      `### ${resource}`,
      ...(rows === undefined ? [] : [HEADER + rows]),
      ...(own ? [own.text, code(interfaceMembers(own.folder, own.name))] : []),
    ];
  });
  const sections = SECTIONS.flatMap(({ title, text, declared = {} }) => {
    const parts = Object.entries(declared).flatMap(([folder, names]) =>
      names.split(' ').map((name) => declarationOf(folder, name)),
    );
    return [
      `## ${title}`,
      ...(text === undefined ? [] : [text]),
      ...(parts.length ? [code(parts.join('\n\n'))] : []),
    ];
  });
  return `${[INTRODUCTION.trimEnd(), '## Resources', ...tables, ...sections].join('\n\n')}\n`;
}

const code = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``;

function row(method: Method): string {
  const { resource, name, operation } = method;
  const { parameters, returns } = callOf(operation);
  const cells = [
    `\`${name}(${parameters})\`${isBoundDirectly(method) ? ' •' : ''}`,
    returns,
    operation.summary,
    `\`${operation.method} ${operation.path}\``,
    operation.permission,
  ];
  if (cells.some((cell) => cell.includes('\n')))
    throw new Error(`${resource}.${name} needs more than a line.`);
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}
