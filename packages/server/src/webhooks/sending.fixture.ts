/** For tests of sending: a log with its reader and sender, and receivers on this machine. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookSubscriptionRow } from '../db/schema.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import { openTestLog } from '../events/events.fixture.ts';
import type { TestLog } from '../events/events.fixture.ts';
import { lastSequence, startConsumer } from '../events/index.ts';
import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import { fanOut } from './fan-out.ts';
import { nameResolver } from './resolve.ts';
import { makeSecret } from './secrets.ts';
import { startSender } from './sender.ts';
import { insertSubscription } from './store.ts';

export interface Request {
  headers: IncomingHttpHeaders;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into envelopes by name.
  json: any;
  body: string;
}
type Answer = number | ((request: Request, response: ServerResponse, index: number) => unknown);

export interface Receiver {
  url: string;
  requests: Request[];
  /** The highest number of requests without a response at one time. */
  mostOpen: number;
  answer: Answer;
  close(): Promise<void>;
}

/** A receiver that responds with a status, or calls a function. */
export async function openReceiver(answer: Answer = 200): Promise<Receiver> {
  let open = 0;
  const handle = async (message: IncomingMessage, response: ServerResponse) => {
    receiver.mostOpen = Math.max(receiver.mostOpen, ++open);
    response.once('close', () => open--);
    let body = '';
    for await (const chunk of message.setEncoding('utf8')) body += String(chunk);
    const request = { headers: message.headers, body, json: JSON.parse(body) };
    const index = receiver.requests.push(request) - 1;
    if (typeof receiver.answer === 'number') response.writeHead(receiver.answer).end();
    else await receiver.answer(request, response, index);
  };
  const server = createServer((message, response) => {
    handle(message, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    requests: [],
    mostOpen: 0,
    answer,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

interface Settings {
  retrySeconds?: number[];
  disableAfterSeconds?: number;
  allowPrivate?: boolean;
  disabled?: string[];
  attemptMs?: number;
}

export type SendingContext = TestLog['ctx'] & Pick<Context, 'clock' | 'version'>;

export interface Sending {
  ctx: SendingContext;
  connection: TestLog['connection'];
  orgId: string;
  organization(): Promise<string>;
  subscribe(
    url: string | { url: string },
    fields?: Partial<WebhookSubscriptionRow>,
  ): Promise<{ id: string; secret: string }>;
  /** One transaction with an event of the Direct feed. Returns its id. */
  publish(
    type?: string,
    at?: { orgId?: string; data?: Record<string, unknown>; feed?: 'direct' | 'platform' },
  ): Promise<string>;
  deliveries(subscriptionId: string): Promise<DeliveryOf[]>;
  subscription(id: string): Promise<WebhookSubscriptionRow>;
  /** Starts a reader of the log and a sender, as another process does. */
  start(): { stop(): Promise<void> };
  close(): Promise<void>;
}
type DeliveryOf = Awaited<ReturnType<typeof deliveriesOf>>[number];

const deliveriesOf = (ctx: Pick<Context, 'db'>, subscriptionId: string) =>
  ctx.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('subscription_id', '=', subscriptionId)
    .orderBy('number')
    .execute();

/** `settings` are the service's. Nothing is sent until `start`. */
export async function openSending(settings: Settings = {}): Promise<Sending> {
  const log = await openTestLog();
  const ctx: SendingContext = {
    ...log.ctx,
    clock: { offsetMs: 0 },
    version: '1.2.3',
    config: {
      ...log.ctx.config,
      disabled: settings.disabled ?? [],
      webhooks: {
        allowPrivate: settings.allowPrivate ?? true,
        retrySeconds: settings.retrySeconds ?? [0.3, 0.3, 0.6],
        disableAfterSeconds: settings.disableAfterSeconds ?? 432_000,
      },
    },
  };
  log.publish();
  const running: { stop(): Promise<void> }[] = [];
  const organization = async () => {
    const id = newId('org');
    await ctx.db.insertInto('organizations').values({ id, name: 'Test' }).execute();
    return id;
  };
  const orgId = await organization();
  return {
    ctx,
    connection: log.connection,
    orgId,
    organization,
    async subscribe(to, fields = {}) {
      const owner = { org_id: fields.org_id ?? orgId, id: newId('wh') };
      const { secret, sealed } = makeSecret(ctx, owner);
      await transaction(ctx, async (tx) =>
        insertSubscription(tx, {
          url: typeof to === 'string' ? to : to.url,
          types: ['*'],
          secret_sealed: sealed,
          after_sequence: await lastSequence(tx.db),
          created_by: 'test',
          ...fields,
          ...owner,
        }),
      );
      return { id: owner.id, secret };
    },
    publish: (type = 'run.completed', { orgId: of = orgId, data = {}, feed = 'direct' } = {}) =>
      transaction(ctx, async (tx) => appendEvent(tx, { orgId: of, projectId: null, feed }, type, data)),
    deliveries: (id) => deliveriesOf(ctx, id),
    subscription: (id) =>
      ctx.db.selectFrom('webhook_subscriptions').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
    start() {
      const consuming = startConsumer(ctx, fanOut(ctx));
      const limits = { attemptMs: settings.attemptMs ?? 15_000, graceMs: 200, resolve: nameResolver() };
      const sender = startSender(ctx, log.connection, limits);
      const one = {
        stop: async () => {
          await Promise.all([consuming.stop(), sender.stop()]);
        },
      };
      running.push(one);
      return one;
    },
    async close() {
      await Promise.all(running.map((one) => one.stop()));
      await log.close();
    },
  };
}
