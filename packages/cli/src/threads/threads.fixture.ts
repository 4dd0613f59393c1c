/** For tests: an app with a head in an in-memory service, and the command line for it. */
import { createClient } from '@headrace/client';
import type { Client } from '@headrace/client';
import { createTestService } from '@headrace/client/testing';
import type { TestService } from '@headrace/client/testing';
import { testCli } from '../cli.fixture.ts';
import type { Ran, RunOptions, TestCli } from '../cli.fixture.ts';

export const sh = (command: string): string => `\`\`\`sh\n${command}\n\`\`\`\n`;

export interface Shop {
  service: TestService;
  client: Client;
  appId: string;
  cli: TestCli;
  /** Words, and options of the run at the end. */
  run(...argv: (string | RunOptions)[]): Promise<Ran>;
}

export async function newShop(service: TestService = createTestService()): Promise<Shop> {
  const client = createClient({ baseUrl: service.url, key: service.key, fetch: service.fetch });
  const { id: appId } = await client.apps.create({ name: 'Shop' });
  const { source } = await client.sources.import(appId, { files: [{ path: 'index.html', content: 'hi\n' }] });
  await client.head.initialize(appId, { sourceId: source.id });
  const cli = testCli(service);
  return {
    service,
    client,
    appId,
    cli,
    run(...argv) {
      const last = argv.at(-1);
      const options = typeof last === 'object' ? last : {};
      const words = argv.filter((word) => typeof word === 'string');
      return cli.run(words, { ...options, env: { HEADRACE_APP: appId, ...options.env } });
    },
  };
}
