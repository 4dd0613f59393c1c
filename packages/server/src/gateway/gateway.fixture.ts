/**
 * A gateway for one test file: a service, a provider for which the test answers, and threads with runs that
 * call it through the socket.
 */
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { PriceEntry, ProviderEntry, Wire } from '../config-file.ts';
import { json } from '../db/schema.ts';
import type { RunRow, StoredSettings } from '../db/schema.ts';
import { newId } from '../ids.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { sealModelKey } from '../usage/model-keys.ts';
import { startGateway } from './gateway.ts';
import { runToken } from '../runs/index.ts';

export const KEY = 'sk-the-organizations-secret';

/** A request that the provider got. */
export interface Seen {
  path: string;
  headers: IncomingMessage['headers'];
  // Tests read fields of bodies by name; a wrong name fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

export type Answering = (res: ServerResponse, seen: Seen, calls: number) => unknown;

export interface Upstream {
  baseUrl: string;
  seen: Seen[];
  /** Sets how it answers from now on. */
  answers(answering: Answering): void;
  close(): void;
}

export async function startUpstream(): Promise<Upstream> {
  const seen: Seen[] = [];
  let answering: Answering = (res) => res.writeHead(500).end();
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const one = {
      path: req.url!,
      headers: req.headers,
      body: text === '' ? null : (JSON.parse(text) as unknown),
    };
    seen.push(one);
    await answering(res, one, seen.length);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    answers(next) {
      answering = next;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
  /** Whether the answer was complete. */
  complete: boolean;
}

export interface CallOptions {
  method?: string;
  token?: string | null;
  headers?: Record<string, string>;
  /** The run that the connection names; default: this one. */
  as?: string;
  /** Called with the answer so far, at each piece; true ends the connection. */
  onPiece?: (text: string) => boolean | void;
}

export interface GatewayBench {
  s: TestServer;
  upstream: Upstream;
  gateway: Awaited<ReturnType<typeof startGateway>>;
  orgId: string;
  /** Makes a running run in a new thread. */
  run(options?: {
    modelId?: string;
    limit?: number | null;
    projectId?: string;
    settings?: StoredSettings;
  }): Promise<Run>;
  call(run: Pick<Run, 'id'>, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** What the database holds about a run: its money, its thread's and project's, its calls. */
  look(run: Run): Promise<{
    run: Pick<RunRow, 'input_tokens' | 'output_tokens' | 'cached_tokens' | 'cost_micros' | 'model_failure'>;
    thread: { spent: number; reserved: number };
    project: { spent: number; reserved: number };
    outcomes: (string | null)[];
  }>;
  close(): Promise<void>;
}

export interface Run {
  id: string;
  threadId: string;
  projectId: string;
}

/** 1 micro-unit a token of input, 2 of output. */
export const PRICE: PriceEntry = {
  inputMicros: 1_000_000,
  outputMicros: 2_000_000,
  cachedMicros: 500_000,
  cacheWriteMicros: 1_000_000,
};

export async function newGatewayBench(times: Parameters<typeof startGateway>[1] = {}): Promise<GatewayBench> {
  const upstream = await startUpstream();
  const s = await startTestServer({ HEADRACE_ROLES: 'api' });
  const { ctx } = s.service;
  const provider = (key: ProviderEntry['key']): ProviderEntry => ({
    baseUrl: upstream.baseUrl,
    wires: ['anthropic', 'openai-chat', 'openai-responses'],
    key,
  });
  ctx.config.providers = {
    acme: provider('required'),
    open: provider('none'),
    other: provider('required'),
    keyless: provider('required'),
  };
  ctx.config.prices = { 'acme/priced': PRICE, 'open/priced': PRICE };
  const gateway = await startGateway(ctx, times);
  const { id: orgId } = await ctx.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow();
  for (const name of ['acme', 'other'])
    await ctx.db
      .insertInto('model_keys')
      .values({ org_id: orgId, provider: name, key_sealed: sealModelKey(ctx.secretKey, orgId, name, KEY) })
      .execute();
  return {
    s,
    upstream,
    gateway,
    orgId,
    async run({ modelId = 'acme/priced', limit = null, projectId = newId('prj'), settings } = {}) {
      const threadId = newId('thr');
      const id = newId('run');
      await ctx.db
        .insertInto('projects')
        .values({
          org_id: orgId,
          id: projectId,
          kind: 'platform',
          name: 'x',
          ...(settings ? { settings: json(settings) } : {}),
        })
        .onConflict((oc) => oc.doNothing())
        .execute();
      await ctx.db
        .insertInto('threads')
        .values({
          org_id: orgId,
          id: threadId,
          project_id: projectId,
          listed: true,
          status: 'running',
          initialization_state: 'completed',
          created_by: 'usr_x',
          spend_limit_micros: limit,
        })
        .execute();
      await ctx.db
        .insertInto('runs')
        .values({
          org_id: orgId,
          id,
          project_id: projectId,
          thread_id: threadId,
          reply_message_id: newId('msg'),
          kind: 'message',
          agent: 'headrace',
          model_id: modelId,
          status: 'running',
          created_by: 'usr_x',
        })
        .execute();
      return { id, threadId, projectId };
    },
    async call(
      run,
      path,
      body,
      {
        method = body === undefined ? 'GET' : 'POST',
        token = runToken(ctx.secretKey, run.id),
        headers = {},
        as = run.id,
        onPiece,
      } = {},
    ) {
      const socket = connect(gateway.socketPath);
      await once(socket, 'connect');
      socket.write(`task ${as}\n`);
      const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
      return new Promise<Answer>((resolve, reject) => {
        const req = httpRequest(
          {
            createConnection: () => socket,
            path,
            method,
            host: 'gateway',
            headers: {
              ...(token === null ? {} : { authorization: `Bearer ${token}` }),
              ...(text === undefined
                ? {}
                : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
              ...headers,
            },
          },
          (res) => {
            let got = '';
            const done = () => {
              socket.destroy();
              let parsed: unknown;
              try {
                parsed = JSON.parse(got);
              } catch {
                /* not JSON */
              }
              resolve({
                status: res.statusCode!,
                headers: res.headers,
                text: got,
                body: parsed,
                complete: res.complete,
              });
            };
            res
              .setEncoding('utf8')
              .on('data', (piece: string) => {
                got += piece;
                if (onPiece?.(got)) done();
              })
              .on('end', done)
              .on('error', done);
          },
        );
        req.on('error', reject);
        req.end(text);
      });
    },
    async look({ id, threadId, projectId }) {
      const row = await ctx.db
        .selectFrom('runs')
        .select(['input_tokens', 'output_tokens', 'cached_tokens', 'cost_micros', 'model_failure'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const calls = await ctx.db
        .selectFrom('model_calls')
        .select('outcome')
        .where('run_id', '=', id)
        .orderBy('id')
        .execute();
      const spending = await ctx.db
        .selectFrom('spending')
        .selectAll()
        .where('scope_id', 'in', [threadId, projectId])
        .execute();
      const of = (scope: string) =>
        spending
          .filter((one) => one.scope_id === scope)
          .map((one) => ({ spent: one.spent_micros, reserved: one.reserved_micros }))[0] ?? {
          spent: 0,
          reserved: 0,
        };
      return {
        run: row,
        thread: of(threadId),
        project: of(projectId),
        outcomes: calls.map((call) => call.outcome),
      };
    },
    async close() {
      await gateway.close();
      upstream.close();
      await s.close();
    },
  };
}

/** Events of a stream, without its end. */
export function sse(res: ServerResponse, ...events: unknown[]): void {
  if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events)
    res.write(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`);
}

export const PATHS: Record<Wire, string> = {
  anthropic: '/acme/v1/messages',
  'openai-chat': '/acme/v1/chat/completions',
  'openai-responses': '/acme/v1/responses',
};
export const WIRES = ['anthropic', 'openai-chat', 'openai-responses'] as const;

/** A call of each wire; `more` replaces its members. */
export function request(
  wire: Wire,
  maxOutput: number,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const messages = [{ role: 'user', content: 'hi' }];
  const body =
    wire === 'anthropic'
      ? { messages, max_tokens: maxOutput }
      : wire === 'openai-chat'
        ? { messages, max_completion_tokens: maxOutput }
        : { input: messages, max_output_tokens: maxOutput };
  return { model: 'priced', ...body, ...more };
}

/**
 * Answers any call on each wire, whole or streamed, and reports 100 tokens of input, 40 of them cached, and
 * 50 of output.
 */
export function answerAll(res: ServerResponse, { path, body }: Pick<Seen, 'path' | 'body'>): void {
  const whole = (value: unknown) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const usage = {
    input_tokens: 60,
    cache_read_input_tokens: 40,
    cache_creation_input_tokens: 0,
    output_tokens: 50,
  };
  const chat = {
    prompt_tokens: 100,
    completion_tokens: 50,
    total_tokens: 150,
    prompt_tokens_details: { cached_tokens: 40 },
  };
  const responses = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 40 },
    output_tokens: 50,
    total_tokens: 150,
  };
  if (path.endsWith('/messages')) {
    if (!body.stream)
      return void whole({ type: 'message', content: [{ type: 'text', text: 'hello' }], usage });
    sse(
      res,
      { type: 'message_start', message: { usage: { ...usage, output_tokens: 1 } } },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'hello' } },
      { type: 'message_delta', usage: { output_tokens: 50 } },
      { type: 'message_stop' },
    );
  } else if (path.endsWith('/completions')) {
    if (!body.stream) return void whole({ choices: [{ message: { content: 'hello' } }], usage: chat });
    sse(
      res,
      { choices: [{ delta: { content: 'hello' } }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: chat },
      'data: [DONE]\n\n',
    );
  } else {
    if (!body.stream) return void whole({ output: [], usage: responses });
    sse(
      res,
      { type: 'response.output_text.delta', delta: 'hello' },
      { type: 'response.completed', response: { usage: responses } },
    );
  }
  res.end();
}

/** The cost of a call that `answerAll` answers, with PRICE. */
export const COST = 60 + 20 + 100;
