/** Runs the guide's commands and its receiver unchanged, and its verification against the package's signatures. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codesOf, commandsOf, hint, missing, readGuide, runCommands, valuesOf } from '../guide.fixture.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { Delivery, Subscription } from './schemas.ts';

const ROOT = join(import.meta.dirname, '../../../..');

let s: TestServer;
let folder: string;
beforeAll(async () => {
  s = await startTestServer({
    HEADRACE_ROLES: 'api,worker',
    HEADRACE_WEBHOOK_ALLOW_PRIVATE: '1',
    HEADRACE_WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1,1',
  });
  folder = await mkdtemp(join(tmpdir(), 'headrace-guide-'));
  await symlink(join(ROOT, 'examples'), join(folder, 'examples'));
});
afterAll(async () => {
  await s?.close();
  await rm(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test.skipIf(missing.length > 0)(
  `the guide's receiver gets each event once: by delivery, after a pause, and from the log${hint}`,
  async () => {
    const env = {
      HEADRACE_URL: s.base,
      KEY: s.key,
      PORT: String(await freePort()),
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    };
    const text = await runCommands(commandsOf('webhooks.md').join('\n'), env, folder);
    const lines = text
      .split('\n')
      .filter((line) => /^[{\d]/.test(line))
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      { eventType: 'webhook.ping', status: 'pending' },
      { eventType: 'webhook.ping', status: 'succeeded', attemptCount: 1 },
      1,
      { disabled: true, disabledReason: 'user' },
      { disabled: false, disabledReason: null },
      1,
    ]);
  },
);

test("the guide has the code's errors of attempts, of deliveries and of subscriptions", () => {
  const { attempts, errorCode } = Delivery.properties;
  for (const [header, schema] of [
    ['| `error` of an attempt |', attempts.items.properties.error],
    ['| `errorCode` of a failed delivery |', errorCode],
    ['| `disabledReason` |', Subscription.properties.disabledReason],
  ] as const)
    expect(codesOf('webhooks.md', header)).toEqual(valuesOf(schema));
});

test("the guide has the reasons of the client's verification", () => {
  const client = readFileSync(join(ROOT, 'packages/client/src/webhooks.ts'), 'utf8');
  const reasons = [...client.matchAll(/^ {2}\| '(\w+)'/gm)].map(([, reason]) => reason);
  expect(reasons).toHaveLength(6);
  expect(codesOf('webhooks.md', '| `reason` of a `WebhookError` |')).toEqual(reasons.toSorted());
});

test("the guide's verification accepts the package's signatures and nothing else", async () => {
  const [code] = /^import \{ createHmac[\s\S]*?(?=^```$)/m.exec(readGuide('webhooks.md'))!;
  const file = join(folder, 'is-authentic.ts');
  await writeFile(file, code);
  const { isAuthentic } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    isAuthentic(secret: string, headers: Record<string, string>, body: Buffer): boolean;
  };
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
  const body = '{"id":"evt_1","data":{"name":"Zoë"}}';
  const signed = (key: string, at = new Date(), id = 'evt_1') => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(key).sign(id, at, body),
  });
  const isRight = (headers: Record<string, string>, text = body) =>
    isAuthentic(secret, headers, Buffer.from(text));

  expect(isRight(signed(secret))).toBe(true);
  const both = `${signed(other)['webhook-signature']} ${signed(secret)['webhook-signature']}`;
  expect(isRight({ ...signed(secret), 'webhook-signature': both })).toBe(true);
  expect(isRight(signed(other))).toBe(false);
  expect(isRight(signed(secret), `${body} `)).toBe(false);
  expect(isRight({ ...signed(secret), 'webhook-id': 'evt_2' })).toBe(false);
  expect(isRight(signed(secret, new Date(Date.now() - 301_000)))).toBe(false);
  expect(isRight({})).toBe(false);
});
