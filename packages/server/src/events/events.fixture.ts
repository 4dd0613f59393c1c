/** A separate log for a test file: database, bus, publisher and hub, without the rest of the service. */
import { randomBytes } from 'node:crypto';
import { createServer, get } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { noMetrics } from '@headrace/runner/metrics';
import type { Principal } from '../http/principal.ts';
import { openBus } from '../bus.ts';
import type { Context } from '../context.ts';
import { openDatabase } from '../db/database.ts';
import { createTestDatabase } from '../db/database.fixture.ts';
import { appendEvent, transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { noRunner } from '../runner/no-runner.ts';
import { bindingOf } from './cursor.ts';
import type { EventFilter } from './filter.ts';
import type { RunnerOf } from './follow-draft.ts';
import { EventHub } from './hub.ts';
import { Publisher } from './publisher.ts';
import { readEnd } from './store.ts';
import type { Position } from './store.ts';

export type TestContext = Pick<
  Context,
  'db' | 'bus' | 'log' | 'config' | 'metrics' | 'secretKey' | 'shutdown' | 'events'
>;

export interface Frame {
  id?: string;
  event?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into frames by name.
  data?: any;
}

export interface Reader {
  frames: Frame[];
  response: IncomingMessage;
  isOver: boolean;
  close(): void;
}

export interface TestLog {
  ctx: TestContext;
  connection: Awaited<ReturnType<typeof createTestDatabase>>['connection'];
  /** The filter of one app's feed. */
  filter(projectId?: string): EventFilter;
  publish(): Publisher;
  /** One transaction with these events of an app; resolves after its commit. */
  write(
    types: readonly string[],
    options?: { projectId?: string; threadId?: string; data?: Record<string, unknown> },
  ): Promise<void>;
  /**
   * Opens a stream over HTTP, from `position` (now). `isPaused`: the reader takes nothing until
   * `response.resume()`.
   */
  read(filter: EventFilter, options?: { position?: Position; isPaused?: boolean }): Promise<Reader>;
  close(): Promise<void>;
}

export const ORG = newId('org');
export const APP = newId('prj');

const PRINCIPAL: Principal = {
  kind: 'key',
  orgId: ORG,
  actorId: newId('sa'),
  accountId: null,
  userId: null,
  credentialId: newId('cred'),
  role: null,
  permissions: new Set(['thread:read']),
  projectIds: null,
  platformApi: true,
};

/** Resolves when `look` gives something; fails after `ms`. */
export async function until<T>(look: () => T | Promise<T>, ms = 10_000): Promise<NonNullable<T>> {
  for (const end = Date.now() + ms; ;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`it did not happen within ${ms} ms`);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

export function parseFrames(text: string): { frames: Frame[]; rest: string } {
  const parts = text.split('\n\n');
  const rest = parts.pop()!;
  const frames = parts.map((part) => {
    const frame: Frame = {};
    for (const line of part.split('\n')) {
      const [, name, value] = /^(\w+): (.*)$/.exec(line) ?? [];
      if (name === 'data') frame.data = JSON.parse(value!);
      else if (name === 'id' || name === 'event') frame[name] = value!;
    }
    return frame;
  });
  return { frames, rest };
}

/** Reads a stream's frames as they come. */
export function readFrames(response: IncomingMessage, close: () => void): Reader {
  const reader: Reader = { frames: [], response, isOver: false, close };
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const { frames, rest } = parseFrames(text + chunk);
    text = rest;
    reader.frames.push(...frames);
  });
  response.on('close', () => {
    reader.isOver = true;
  });
  response.on('error', () => {});
  return reader;
}

/** A stream of a whole service. */
export async function openStream(of: { base: string; key: string }, path: string): Promise<Reader> {
  const request = get(`${of.base}${path}`, { headers: { 'x-api-key': of.key }, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    request.on('response', resolve).on('error', reject),
  );
  return readFrames(response, () => request.destroy());
}

export async function openTestLog(
  settings: { eventRetentionSeconds?: number; runnerOf?: RunnerOf } = {},
): Promise<TestLog> {
  const database = await createTestDatabase();
  const handle = openDatabase(database.connection, { max: 12 });
  const log = pino({ level: process.env.HEADRACE_TEST_LOG ?? 'silent' });
  const shutdown = new AbortController();
  const bus = await openBus(database.connection, newId('wrk'), log);
  const basis = {
    db: handle.db,
    bus,
    log,
    metrics: noMetrics() as Context['metrics'],
    secretKey: randomBytes(32),
    shutdown: shutdown.signal,
    config: { eventRetentionSeconds: settings.eventRetentionSeconds ?? 604_800 } as Context['config'],
  };
  const ctx: TestContext = { ...basis, events: new EventHub(basis) };
  await ctx.events.start(database.connection, settings.runnerOf ?? (async () => ({ runner: noRunner })));
  const publishers: Publisher[] = [];
  const opening = new Map<
    string,
    (server: Parameters<Parameters<typeof createServer>[1] & object>[1]) => void
  >();
  const server: Server = createServer((request, response) => opening.get(request.url!)!(response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    ctx,
    connection: database.connection,
    filter: (projectId = APP) => ({
      orgId: ORG,
      feed: 'platform',
      projectId,
      projectIds: null,
      threadId: null,
      runId: null,
      types: null,
    }),
    publish() {
      const publisher = new Publisher(ctx, database.connection);
      publishers.push(publisher);
      return publisher;
    },
    async write(types, { projectId = APP, threadId, data = {} } = {}) {
      await transaction(ctx, async (tx) => {
        for (const type of types)
          appendEvent(tx, { orgId: ORG, projectId, feed: 'platform', threadId }, type, data);
      });
    },
    async read(filter, { position, isPaused = false } = {}) {
      const watch = ctx.events.watch();
      const from = position ?? (await readEnd(ctx.db));
      const path = `/${randomBytes(8).toString('hex')}`;
      opening.set(path, (response) =>
        ctx.events.stream(
          response,
          {},
          { filter, binding: bindingOf(filter, 1), position: from, principal: PRINCIPAL, allows: () => {} },
          watch,
        ),
      );
      const request = get({ port, path, agent: false });
      const response = await new Promise<IncomingMessage>((resolve, reject) =>
        request.on('response', resolve).on('error', reject),
      );
      const reader = readFrames(response, () => request.destroy());
      if (isPaused) response.pause();
      return reader;
    },
    async close() {
      shutdown.abort();
      server.closeAllConnections();
      server.close();
      await Promise.all(publishers.map((p) => p.stop()));
      await bus.close();
      await handle.close();
      await database.drop();
    },
  };
}
