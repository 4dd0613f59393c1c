/** For tests: an app in memory with a source and a thread, and the command line on it. */
import { createClient } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import { testCli } from '../cli.fixture.ts';
import type { RunOptions } from '../cli.fixture.ts';

interface Request {
  url: URL;
  method: string;
  /** Sends it to the service. */
  send(): Promise<Response>;
}

/** `intercept` may answer a request of the command in place of the service. */
export async function newBench(
  intercept: (request: Request) => Promise<Response> | undefined = () => undefined,
) {
  const service = createTestService();
  const client = createClient({ baseUrl: service.url, key: service.key, fetch: service.fetch });
  const app = await client.apps.create({ name: 'Shop' });
  const { source } = await client.sources.import(app.id, {
    files: [{ path: 'index.html', content: '<h1>Shop</h1>\n' }],
  });
  await client.head.initialize(app.id, { sourceId: source.id });
  const { thread } = await client.threads.create(app.id, { title: 'Colours' });
  const cli = testCli({
    ...service,
    fetch: (input, init) =>
      intercept({
        url: new URL(input as string),
        method: init?.method ?? 'GET',
        send: () => service.fetch(input, init),
      }) ?? service.fetch(input, init),
  });
  const env = { HEADRACE_APP: app.id };
  return {
    service,
    client,
    cli,
    appId: app.id,
    threadId: thread.id,
    sourceId: source.id,
    run: (argv: readonly string[], options: RunOptions = {}) =>
      cli.run(argv, { ...options, env: { ...env, ...options.env } }),
  };
}

/** Resolves when the command has printed the text. */
export function printed(text: string): { onOutput(part: string): void; seen: Promise<void> } {
  let all = '';
  let resolve: () => void;
  const seen = new Promise<void>((done) => (resolve = done));
  return {
    onOutput(part) {
      all += part;
      if (all.includes(text)) resolve();
    },
    seen,
  };
}
