/** A real service for one test file: its own database, data folder and free port. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pino from 'pino';
import type { Logger } from 'pino';
import { isServiceKey, makeServiceKey } from './accounts/index.ts';
import { startService } from './boot.ts';
import type { Service } from './boot.ts';
import { readConfig } from './config.ts';
import { createTestDatabase } from './db/database.fixture.ts';
import { auditLog } from './events/audit.fixture.ts';

export const OWNER = { email: 'owner@example.test', password: 'correct horse battery staple' };

export interface TestAnswer {
  status: number;
  headers: Headers;
  // Tests reach into answers by name; a wrong name fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
  text: string;
}

export interface TestServer {
  service: Service;
  base: string;
  key: string;
  /** One call; writes get a fresh Idempotency-Key unless `idem` is given (false = none). */
  call(
    method: string,
    path: string,
    body?: unknown,
    options?: {
      key?: string | null;
      idem?: string | false;
      headers?: Record<string, string>;
      cookie?: string;
    },
  ): Promise<TestAnswer>;
  close(): Promise<void>;
}

/** `pg` reads a unix socket's folder from the query. */
export function databaseUrl({
  host,
  port,
  user,
  database,
}: {
  host: string;
  port: number;
  user: string;
  database: string;
}): string {
  return `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user }).toString()}`;
}

/** Lets an API without a worker accept work, which stays queued: a worker lives elsewhere, as it seems. */
async function acceptWork({ ctx }: Service): Promise<void> {
  await ctx.db
    .insertInto('processes')
    .values({
      id: 'wrk_elsewhere',
      host: hostname(),
      roles: ['worker'],
      last_seen_at: sql<Date>`'infinity'`,
      sandbox_seen_at: sql<Date>`'infinity'`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Starts a service, or with `beside` a second one on that service's database, with its key. Close the second
 * one first.
 */
export async function startTestServer(
  env: Record<string, string> = {},
  beside?: TestServer,
  log: Logger = pino({ level: process.env.HEADRACE_TEST_LOG ?? 'fatal' }),
): Promise<TestServer> {
  const database = beside ? null : await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'headrace-test-'));
  const key = beside?.key ?? makeServiceKey();
  const config = readConfig(
    {
      HEADRACE_PORT: '0',
      HEADRACE_DATA_DIR: dataDir,
      DATABASE_URL: database ? databaseUrl(database.connection) : beside!.service.ctx.config.databaseUrl!,
      HEADRACE_SECRET_KEY: 'test secret of at least 32 characters',
      HEADRACE_OWNER_EMAIL: OWNER.email,
      HEADRACE_OWNER_PASSWORD: OWNER.password,
      HEADRACE_BOOTSTRAP_KEY: key,
      HEADRACE_RATE_LIMIT: '1000000',
      ...env,
    },
    isServiceKey,
  );
  const service = await startService(config, log);
  const base = service.address!;
  if (!config.roles.has('worker') && !beside) await acceptWork(service);
  return {
    service,
    base,
    key,
    async call(method, path, body, options = {}) {
      const headers: Record<string, string> = { ...options.headers };
      if (options.cookie) Object.assign(headers, { cookie: options.cookie, origin: base });
      else if (options.key !== null) headers['x-api-key'] ??= options.key ?? key;
      if (method !== 'GET' && options.idem !== false)
        headers['idempotency-key'] ??= options.idem ?? randomUUID();
      if (body !== undefined) headers['content-type'] ??= 'application/json';
      const response = await fetch(base + path, {
        method,
        headers,
        redirect: 'manual',
        ...(body === undefined
          ? {}
          : {
              body: (typeof body === 'string' || Buffer.isBuffer(body)
                ? body
                : JSON.stringify(body)) as string,
            }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined,
      };
    },
    async close() {
      try {
        await service.stop();
        // Whatever a test was about: each event that came of it is held against its type's schema.
        if (database) await auditLog(database.connection);
      } finally {
        await database?.drop();
        await rm(dataDir, { recursive: true, force: true });
      }
    },
  };
}
