/**
 * What each runtime does with the packed client, against the real service. Web standards only: it runs in browsers and
 * Workers too. Throws if something is not as expected.
 */
import { createClient, HeadraceError, isCode } from '@headrace/client';
import type { Client, HeadraceEvent, StreamItem } from '@headrace/client';
import { verifyWebhook } from '@headrace/client/webhooks';

export interface Ground {
  /** The service, behind a proxy that cuts event streams. */
  baseUrl: string;
  key: string;
  /** A server that is not Headrace: `/page`, `/redirect`. */
  strangeUrl: string;
  isBrowser: boolean;
  /** Signed by another implementation. */
  webhook: { secret: string; headers: Record<string, string>; body: string };
}

type Step = [name: string, run: () => Promise<void>];

/** Returns the names of the steps that it took. */
export async function scenario(ground: Ground): Promise<string[]> {
  const client = createClient(optionsOf(ground));
  const steps: Step[] = [
    ['main job', () => mainJob(client)],
    ['lists', () => lists(client)],
    ['errors', () => errors(client, ground.key)],
    ['strangers', () => strangers(ground)],
    ['keys', () => keys(ground)],
    ['webhooks', () => webhooks(ground)],
  ];
  const done: string[] = [];
  for (const [name, run] of steps) {
    await run().catch((error: unknown) => {
      throw new Error(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    });
    done.push(name);
  }
  return done;
}

const optionsOf = ({ baseUrl, key, isBrowser }: Ground) => ({
  baseUrl,
  key,
  ...(isBrowser && { dangerouslyAllowBrowser: true }),
});

function must(isSo: unknown, what: string): asserts isSo {
  if (!isSo) throw new Error(`It is not true that ${what}.`);
}

const MESSAGE = 'Edit:\n\n```sh\nprintf "hello\\n" > hello.txt\n```\n';
const LIMIT_MS = 60_000;

/** From an app to a build, with all its events, over a connection that is cut. */
async function mainJob(client: Client): Promise<void> {
  const app = await client.apps.create({ name: 'Runtimes', metadata: { for: 'runtimes' } });
  const from = await client.events.head({ appId: app.id });
  const { source } = await client.sources.import(app.id, { files: [{ path: 'a.txt', content: 'ä\n' }] });
  await client.head.initialize(app.id, { sourceId: source.id });

  const { thread } = await client.threads.create(app.id, { message: { content: MESSAGE } });
  let hasEnded = false;
  for await (const item of client.threads.follow(app.id, thread.id, {
    signal: AbortSignal.timeout(LIMIT_MS),
  }))
    if (item.kind === 'run' && item.run.status === 'completed') {
      hasEnded = true;
      break;
    }
  must(hasEnded, 'the run is seen to complete');

  const { latestSourceId } = await client.threads.get(app.id, thread.id);
  const apply = await client.applies
    .create(app.id, thread.id, { expectedSourceId: latestSourceId! })
    .done({ timeoutMs: LIMIT_MS });
  must(apply.status === 'applied', `the draft is applied, not ${apply.status}`);
  const bound = client.app(app.id).thread(thread.id);
  const build = await bound.builds
    .create({ command: 'mkdir dist && cp *.txt dist', outputDirectory: 'dist' })
    .done();
  must(build.status === 'ready', `the build is ready, not ${build.status}`);
  const archive = await client.builds.artifact(app.id, build.id);
  must(archive[0] === 0x1f && archive[1] === 0x8b, 'the artifact is gzip');
  const streamed = await client.builds.artifact(app.id, build.id).asResponse();
  must((await streamed.arrayBuffer()).byteLength === archive.length, 'it is the same when streamed');
  must(
    (await client.sources.file(app.id, apply.resultSourceId!, { path: 'a.txt' })).content === 'ä\n',
    'a.txt is kept',
  );
  await sameEvents(client, app.id, from);
}

/** The stream and the pages have the same events, in the same order. */
async function sameEvents(client: Client, appId: string, from: string): Promise<void> {
  const replayed: HeadraceEvent[] = [];
  for await (const event of client.events.replay({ appId }, { cursor: from })) replayed.push(event);
  must(
    replayed.some(({ type }) => type.startsWith('platform.build.')),
    'the build is in the log',
  );
  const streamed: HeadraceEvent[] = [];
  const signal = AbortSignal.timeout(LIMIT_MS);
  for await (const item of client.events.stream(
    { appId },
    { cursor: from, signal },
  ) as AsyncIterable<StreamItem>) {
    if (item.kind === 'event') streamed.push(item.event);
    if (streamed.length === replayed.length) break;
  }
  must(
    JSON.stringify(streamed.map(({ id }) => id)) === JSON.stringify(replayed.map(({ id }) => id)),
    `the stream has the ${replayed.length} events of the pages, once and in order`,
  );
}

async function lists(client: Client): Promise<void> {
  const app = await client.apps.create({ name: 'Lists' });
  const { source } = await client.sources.import(app.id, { files: [] });
  await client.head.initialize(app.id, { sourceId: source.id });
  for (const title of ['one', 'two', 'three']) await client.threads.create(app.id, { title });
  const page = await client.threads.list(app.id, { limit: 2 });
  must(page.items.length === 2 && page.hasMore && page.nextCursor !== null, 'a page has two of three');
  const titles: (string | null)[] = [];
  for await (const thread of client.threads.list(app.id, { limit: 2 })) titles.push(thread.title);
  must(titles.toSorted().join() === 'one,three,two', 'the iteration has all three');
  const { data, response } = await client.apps.get(app.id).withResponse();
  must(data.id === app.id && response.requestId, 'the response has a request id');
}

async function errors(client: Client, key: string): Promise<void> {
  const lost = await thrown(client.apps.get('nothing'));
  must(
    isCode(lost, 'app_not_found') && lost.status === 404 && lost.requestId,
    'an app that is not there is app_not_found',
  );
  must(
    !`${String(lost)}${lost.stack}${JSON.stringify(lost)}${JSON.stringify(client)}`.includes(key),
    'no key is shown',
  );
  const refused = await thrown(client.apps.create({ name: '' }));
  must(
    refused instanceof HeadraceError && refused.fields.some(({ path }) => path === '/name'),
    'fields have paths',
  );
  const app = await client.apps.create({ name: 'Versions' });
  const stale = await thrown(client.apps.update(app.id, { name: 'Other', expectedVersion: 99 }));
  must(
    isCode(stale, 'version_conflict') && stale.details.current.version === 1,
    'a conflict names the version',
  );
  const ended = await thrown(client.apps.list({ signal: AbortSignal.abort() }));
  must((ended as Error).name === 'AbortError', 'a signal ends a call');
  const key1 = `runtimes-${app.id}`;
  const [first, second] = [
    await client.apps.create({ name: 'Twice' }, { idempotencyKey: key1 }),
    await client.apps.create({ name: 'Twice' }, { idempotencyKey: key1 }),
  ];
  must(first.id === second.id, 'a key has one effect');
}

async function strangers({ strangeUrl, ...ground }: Ground): Promise<void> {
  const at = (path: string) =>
    createClient({ ...optionsOf(ground as Ground), baseUrl: `${strangeUrl}${path}` });
  const page = await thrown(at('/page').apps.list({ timeoutMs: 2_000 }));
  must(isCode(page, 'invalid_response') && page.status === 200, `a page is no answer: ${String(page)}`);
  must(page.message.includes('<html>'), 'the message shows what came');
  const moved = await thrown(at('/redirect').apps.list({ timeoutMs: 2_000 }));
  must(moved instanceof HeadraceError && !moved.retryable, `a redirect is refused: ${String(moved)}`);
}

async function keys({ key, isBrowser }: Ground): Promise<void> {
  if (isBrowser) {
    const refused = await thrown(
      Promise.resolve().then(() => createClient({ baseUrl: 'https://headrace.test', key })),
    );
    must(refused instanceof TypeError, 'a key in a browser is refused');
  }
  const warn = console.warn;
  const warnings: string[] = [];
  console.warn = (line: string) => void warnings.push(line);
  try {
    const options = { key, dangerouslyAllowBrowser: true };
    for (const baseUrl of ['https://headrace.test', 'http://headrace.test', 'http://headrace.test'])
      createClient({ ...options, baseUrl });
  } finally {
    console.warn = warn;
  }
  must(warnings.length === 1 && !warnings[0]!.includes(key), 'an unencrypted credential is warned of once');
}

async function webhooks({ webhook: { secret, headers, body } }: Ground): Promise<void> {
  const event = await verifyWebhook(secret, headers, body);
  must(event.id === (JSON.parse(body) as { id: string }).id, 'a signed delivery is its event');
  must(
    (await thrown(verifyWebhook(secret, headers, `${body} `))) instanceof Error,
    'a changed one is refused',
  );
}

const thrown = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    (value) => {
      throw new Error(`Nothing was thrown, but ${JSON.stringify(value)} returned.`);
    },
    (error: unknown) => error,
  );
