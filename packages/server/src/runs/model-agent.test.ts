/**
 * The built-in model agent through the whole service: sandbox, relay, gateway, and a model server that does
 * what the message says.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fakeAgent } from '../../../runner/src/tasks/fake-agent.fixture.ts';
import { startModelServer } from '../../../../checks/harness/model-server/index.ts';
import type { ModelServer } from '../../../../checks/harness/model-server/index.ts';
import { transaction } from '../db/transaction.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, until } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import { lockThreadById } from '../threads/index.ts';
import { queueUntaken } from './steering.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), 'headrace-agents-'));
/** An agent that says what a call does only when it asks about it. */
const LATE = `on['session/prompt'] = async () => {
  update({ sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Read', status: 'in_progress' });
  const { outcome } = await ask('session/request_permission', { toolCall: { toolCallId: 'c', kind: 'read', status: 'pending', rawInput: { command: 'cat secret' } }, options: [{ optionId: 'yes', kind: 'allow_once' }, { optionId: 'no', kind: 'reject_once' }] });
  text('answered ' + outcome.optionId); return { stopReason: 'end_turn' }; };`;
let models: ModelServer;
let s: TestServer;

beforeAll(async () => {
  models = await startModelServer();
  const file = join(folder, 'config.json');
  const provider = (wire: string) => ({ baseUrl: `${models.url}/v1`, wires: [wire], key: 'none' });
  writeFileSync(
    file,
    JSON.stringify({
      providers: {
        messages: provider('anthropic'),
        chat: provider('openai-chat'),
        responses: provider('openai-responses'),
        unpriced: provider('anthropic'),
        keyed: { ...provider('anthropic'), key: 'required' },
        nowhere: { baseUrl: 'http://127.0.0.1:9/v1', wires: ['anthropic'], key: 'none' },
      },
      prices: Object.fromEntries(
        ['messages', 'chat', 'responses', 'keyed', 'nowhere'].map((name) => [
          `${name}/*`,
          { inputMicros: 1_000_000, outputMicros: 2_000_000 },
        ]),
      ),
      agents: {
        late: { command: fakeAgent(LATE).command, wire: 'anthropic', models: ['messages/late-*'] },
        absent: {
          command: ['absent-agent'],
          folder: 'absent',
          wire: 'anthropic',
          models: ['messages/absent-*'],
          install: 'npm install --prefix absent absent-agent',
        },
      },
    }),
  );
  s = await startTestServer({ HEADRACE_CONFIG_FILE: file, HEADRACE_MCP_ALLOW_PRIVATE: '1' });
});
afterAll(async () => {
  await s?.close();
  await models?.close();
  rmSync(folder, { recursive: true, force: true });
});

const say = (...steps: unknown[]) => `Please.\n\n\`\`\`model\n${JSON.stringify(steps)}\n\`\`\``;
const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const call = (tool: string, input: Record<string, unknown>) => ({ call: [{ tool, input }] });
const WRITE = call('write', { path: 'b.txt', content: 'b\n' });
const bench = (options: Parameters<typeof newBench>[1] = {}) =>
  newBench(s, { ...options, thread: { modelId: 'messages/model', ...options?.thread } });
const callsOf = (text: string) =>
  models.calls.filter((one) => JSON.stringify(one.body ?? null).includes(text));
const toolsOf = async (b: Bench, runId: string) =>
  (await ok(s.call('GET', `${b.at}/runs/${runId}/tools`))).tools;

describe('a run by a model', () => {
  test.each([['messages'], ['chat'], ['responses']])(
    'edits files over the wire %s, and costs what the provider told',
    async (provider) => {
      const b = await bench({ thread: { modelId: `${provider}/model` } });
      const run = await b.work(
        say(
          { ...WRITE, inputTokens: 1000, outputTokens: 100 },
          { say: 'Wrote it.', inputTokens: 2000, outputTokens: 200 },
        ),
      );
      expect(run).toMatchObject({
        agent: 'headrace',
        modelId: `${provider}/model`,
        usage: { inputTokens: 3000, outputTokens: 300, cachedTokens: 0, costMicros: 3000 + 600 },
      });
      expect(await b.files(run.resultSourceId)).toEqual({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
      expect(await toolsOf(b, run.id)).toMatchObject([
        { name: 'write', status: 'completed', input: { path: 'b.txt' } },
      ]);
      expect((await b.list('messages')).at(-1)).toMatchObject({
        role: 'assistant',
        content: expect.stringContaining('Wrote it.'),
      });
      expect(
        (await ok(s.call('GET', '/api/usage?groupBy=thread'))).usage.find(
          (u: { threadId: string }) => u.threadId === b.threadId,
        ),
      ).toMatchObject({ runs: 1, costMicros: 3600 });
    },
  );

  test('publishes its tools, its new source and its reply in order', async () => {
    const b = await bench();
    const words = await b.during(() => b.work(say(WRITE, { say: 'Done.' })));
    expect(words.filter((w) => !w.startsWith('tool.updated'))).toEqual([
      'message.persisted:user',
      'run.queued',
      'thread.updated:queued',
      'run.running',
      'thread.updated:running',
      'platform.source.imported',
      'checkpoint.created',
      'message.persisted:assistant',
      'run.completed',
      'thread.updated:ready',
    ]);
    expect(words.filter((w) => w.startsWith('tool.updated')).at(-1)).toBe('tool.updated:completed');
  });

  test('goes on with the conversation, also in a new workspace', async () => {
    const b = await bench();
    await b.work(`The word is heron. ${say({ say: 'I see.' })}`);
    await b.work(`What was it? ${say({ say: 'first again' })}`);
    expect(JSON.stringify(callsOf('What was it?')[0]!.body)).toContain('The word is heron');
    await s.service.ctx.runner.deleteWorkspace(b.threadId);
    await s.service.ctx.db
      .updateTable('threads')
      .set({ workspace_status: 'archived', workspace_source_id: null })
      .where('id', '=', b.threadId)
      .execute();
    await b.work(`Once more? ${say({ say: 'second again' })}`);
    expect(JSON.stringify(callsOf('Once more?')[0]!.body)).toContain('The word is heron');
  });

  test('goes on in a fork with what was said before, also when the thread is gone', async () => {
    const b = await bench();
    const many = Array.from({ length: 6 }, (_, i) => `Word ${i} is heron.`);
    for (const text of many) await b.work(`${text} ${say({ say: 'I see.' })}`);
    const { thread } = await ok(s.call('POST', `${b.at}/fork`, {}));
    const { thread: bare } = await ok(s.call('POST', `${b.at}/fork`, { transcript: false }));
    await ok(s.call('DELETE', b.at));
    await s.service.ctx.db.deleteFrom('messages').where('thread_id', '=', b.threadId).execute();
    const ask = async (threadId: string, content: string) => {
      const at = `${b.app}/threads/${threadId}`;
      const { run } = await ok(s.call('POST', `${at}/messages`, { content }));
      await ok(s.call('GET', `${at}/runs/${run.id}?waitSeconds=30`));
    };
    await ask(thread.id, `What were they? ${say({ say: 'all of them' })}`);
    await ask(thread.id, `And the first? ${say({ say: 'the first' })}`);
    await ask(bare.id, `What do you know? ${say({ say: 'nothing' })}`);
    const asked = JSON.stringify(callsOf('What were they?')[0]!.body);
    expect(many.map((text) => asked.indexOf(text))).toSatisfy(
      (places: number[]) => places[0]! > 0 && places.every((place, i) => i === 0 || place > places[i - 1]!),
    );
    expect(asked.indexOf('What were they?')).toBeGreaterThan(asked.indexOf(many[5]!));
    const again = JSON.stringify(callsOf('And the first?')[0]!.body);
    expect(again.split(many[0]!)).toHaveLength(2);
    expect(JSON.stringify(callsOf('What do you know?')[0]!.body)).not.toContain('heron');
  });

  test('goes on in a fork with the newest 200,000 characters, the oldest message being cut', async () => {
    const b = await bench();
    await b.work(`The word is heron. ${say({ say: 'I see.' })}`);
    const { thread } = await ok(s.call('POST', `${b.at}/fork`, {}));
    const row = { org_id: 'x', thread_id: thread.id, message_id: 'x', role: 'user' } as const;
    await s.service.ctx.db
      .insertInto('inherited_messages')
      .values([
        { ...row, position: -1, content: `Gone. ${'e'.repeat(100_000)}` },
        { ...row, position: 0, content: '🪶'.repeat(100_000) },
      ])
      .execute();
    const at = `${b.app}/threads/${thread.id}`;
    const { run } = await ok(
      s.call('POST', `${at}/messages`, { content: `How long was it? ${say({ say: 'very' })}` }),
    );
    await ok(s.call('GET', `${at}/runs/${run.id}?waitSeconds=30`));
    const asked = JSON.stringify(callsOf('How long was it?')[0]!.body);
    expect(asked).toContain('The word is heron');
    expect(asked.split('🪶')).toHaveLength(100_001);
    expect(asked.match(/e{90000,}/)?.[0].length).toBeLessThan(100_000);
    expect(asked).not.toContain('Gone.');
  });

  test('shows an image to the model', async () => {
    const b = await bench();
    const { run } = await b.send(`Look. ${say({ say: 'A pixel.' })}`, {
      attachments: [{ mediaType: 'image/png', data: IMAGE }],
    });
    expect((await b.ended(run.id)).status).toBe('completed');
    expect(JSON.stringify(callsOf('A pixel.')[0]!.body)).toContain(IMAGE);
  });
});

describe('a message during a run', () => {
  test('steers it: the run is the same, and the model reads it', async () => {
    const b = await bench();
    const { run } = await b.send(say(call('bash', { command: 'sleep 2' }), { say: 'Finished.' }));
    await b.working(run.id);
    const words = await b.during(async () => {
      const joined = await b.send('Mind the gap.', {
        attachments: [{ mediaType: 'image/png', data: IMAGE }],
      });
      expect([joined.run.id, joined.message.runId]).toEqual([run.id, run.id]);
    });
    expect(words).toEqual(['message.persisted:user']);
    expect((await b.thread()).pendingWakeups).toBe(0);
    expect((await b.ended(run.id)).status).toBe('completed');
    expect([
      callsOf('Mind the gap.').length,
      callsOf(IMAGE).some((one) => JSON.stringify(one.body).includes('Mind the gap.')),
    ]).toEqual([1, true]);
    expect((await b.list('messages')).map((m: { role: string; runId: string }) => [m.role, m.runId])).toEqual(
      [
        ['user', run.id],
        ['user', run.id],
        ['assistant', run.id],
      ],
    );
    expect(await b.list('runs')).toHaveLength(1);
  });

  test('that arrives during the last words is read by the same run, or starts a run: never lost, never twice', async () => {
    const b = await bench();
    const { run } = await b.send(say({ chunks: 40, delayMs: 25 }, { say: 'Heard.' }));
    await until('it to be steerable', async () => (await b.thread()).runSteerable);
    const sent = await b.send('A second thought.');
    await b.ended(sent.run.id);
    await b.ended(run.id);
    await until('the thread to be ready', async () => (await b.thread()).status === 'ready');
    const [message] = (await b.list('messages')).filter(
      (m: { content: string }) => m.content === 'A second thought.',
    );
    const asked = callsOf('A second thought.');
    expect(asked.length).toBeGreaterThan(0);
    for (const { body } of asked) expect(JSON.stringify(body).split('A second thought.').length - 1).toBe(1);
    expect((await b.list('runs')).map((r: { id: string }) => r.id)).toContain(message.runId);
  });

  test('that the agent has not taken yet keeps no stop and no approval from it', async () => {
    const b = await bench({ settings: { approvals: [{ tool: 'bash', decision: 'ask' }] } });
    const { run } = await b.send(say(call('bash', { command: 'sleep 100' }), { say: 'Never said.' }));
    const asked = await until('a question', async () => (await b.list('approvals'))[0]);
    expect((await b.send('Mind the gap.')).run.id).toBe(run.id);
    await until(
      'the next look',
      () =>
        new Promise((done) => {
          setTimeout(() => done(true), 1_200);
        }),
    );
    await ok(s.call('POST', `${b.at}/approvals/${asked.id}`, { decision: 'approve' }));
    const from = Date.now();
    await until('the command to run', async () => (await toolsOf(b, run.id))[0]?.status === 'running');
    expect(Date.now() - from).toBeLessThan(2_000);
    await ok(s.call('POST', `${b.at}/stop`, {}));
    expect((await b.ended(run.id)).status).toBe('cancelled');
    expect(Date.now() - from).toBeLessThan(4_000);
    // A stop also cancels the messages that joined.
    expect([await b.list('runs'), (await b.thread()).status]).toMatchObject([[{ id: run.id }], 'ready']);
  });

  test('starts no run when the one that it joined fails after a stop was accepted', async () => {
    const b = await bench();
    const { run } = await b.send(say({ hang: true }));
    await until('it to be steerable', async () => (await b.thread()).runSteerable);
    await b.send('Mind the gap.');
    const { ctx } = s.service;
    await transaction(ctx, async (tx) => {
      const row = await tx.db
        .selectFrom('runs')
        .selectAll()
        .where('id', '=', run.id)
        .executeTakeFirstOrThrow();
      await queueUntaken(tx, ctx.config, (await lockThreadById(tx, b.threadId))!, {
        run: { ...row, cancel_requested_at: new Date() },
        isCancelled: false,
      });
    });
    expect(await b.list('runs')).toHaveLength(1);
    await ok(s.call('POST', `${b.at}/stop`, {}));
    await b.ended(run.id);
  });

  test('waits behind a run of another model', async () => {
    const b = await bench();
    const { run } = await b.send(say({ chunks: 20, delayMs: 25 }));
    await until('it to be steerable', async () => (await b.thread()).runSteerable);
    const second = await b.send(say({ say: 'other' }), { modelId: 'chat/model' });
    expect(second.run.id).not.toBe(run.id);
    expect((await b.ended(second.run.id)).status).toBe('completed');
  });
});

describe('what goes wrong at the model is named', () => {
  test.each([
    [{ error: 401 }, /answered 401/],
    [{ error: 429 }, /answered 429/],
    [{ error: 500 }, /answered 500/],
    [{ cut: true }, /./],
    [{ nonsense: true }, /./],
  ])('%j', async (fault, message) => {
    const b = await bench();
    const mark = `mark ${JSON.stringify(fault)} ${b.threadId}`;
    const run = await b.work(`${mark} ${say(WRITE, fault)}`, 'failed');
    expect(run.error).toEqual({ code: 'model_error', message: expect.stringMatching(message) as string });
    expect(callsOf(b.threadId).length).toBeLessThanOrEqual(12);
    // What it had changed is kept as a source, and the files are put back.
    expect(await b.list('checkpoints')).toMatchObject([{ kind: 'recovery', runId: run.id }]);
    expect((await b.thread()).latestSourceId).toBe(b.sourceId);
  });

  test('a provider that is not there', async () => {
    const run = await (
      await bench({ thread: { modelId: 'nowhere/model' } })
    ).work(say({ say: 'x' }), 'failed');
    expect(run.error.code).toBe('model_error');
  });

  test('one refusal in passing is no failure', async () => {
    const run = await (await bench()).work(say({ error: 529, times: 1 }, WRITE, { say: 'Done.' }));
    expect(run.status).toBe('completed');
  });
});

describe('money', () => {
  test("a run ends when the thread's limit would be passed; what it spent is below", async () => {
    const b = await bench({ thread: { spendLimitMicros: 30_000 } });
    const run = await b.work(
      say(
        { ...WRITE, inputTokens: 3000, outputTokens: 10_000 },
        ...Array.from({ length: 10 }, (_, i) => ({
          ...call('bash', { command: `echo ${i}` }),
          inputTokens: 3000,
          outputTokens: 5000,
        })),
      ),
      'failed',
    );
    expect(run.error).toEqual({
      code: 'spend_limit_reached',
      message: expect.stringContaining('limit') as string,
    });
    expect(run.usage.costMicros).toBeGreaterThan(0);
    expect(run.usage.costMicros).toBeLessThanOrEqual(30_000);
    expect(await b.list('checkpoints')).toMatchObject([{ kind: 'recovery' }]);
  });

  test('a model without a price is refused under a limit only', async () => {
    const limited = await bench({ thread: { modelId: 'unpriced/model', spendLimitMicros: 1_000_000 } });
    const run = await limited.work(say({ say: 'x' }), 'failed');
    expect(run.error).toEqual({
      code: 'spend_limit_reached',
      message: expect.stringContaining('price') as string,
    });
    expect(
      (await (await bench({ thread: { modelId: 'unpriced/model' } })).work(say({ say: 'x' }))).usage
        .costMicros,
    ).toBe(0);
  });

  test("an app's budget of the month holds over its threads", async () => {
    const b = await bench({ settings: { budgetMicros: 0 } });
    expect((await b.work(say({ say: 'x' }), 'failed')).error.code).toBe('spend_limit_reached');
  });
});

describe('what is not configured is said', () => {
  test.each([
    ['nobody/model', /No provider of the model nobody\/model/],
    ['keyed/model', /PUT \/api\/model-keys\/keyed/],
    ['messages/absent-1', /npm install --prefix absent absent-agent/],
  ])('%s', async (modelId, message) => {
    const b = await bench();
    const { run } = await b.send('Hello.', { modelId });
    expect((await b.ended(run.id)).error).toEqual({
      code: 'not_configured',
      message: expect.stringMatching(message) as string,
    });
  });
});

describe('approvals', () => {
  test('rules hold for its tools: asked, approved, denied by path', async () => {
    const b = await bench({
      settings: {
        approvals: [
          { tool: 'write', pattern: 'secret/*', decision: 'deny' },
          { tool: 'bash', decision: 'ask' },
        ],
      },
    });
    const { run } = await b.send(
      say(call('write', { path: 'secret/x', content: 'x' }), call('bash', { command: 'echo b > b.txt' }), {
        say: 'Done.',
      }),
    );
    const asked = await until('a question', async () => (await b.list('approvals'))[0]);
    expect(await b.thread()).toMatchObject({ status: 'waiting', waitingOn: [`approval:${asked.id}`] });
    await ok(s.call('POST', `${b.at}/approvals/${asked.id}`, { decision: 'approve' }));
    const ended = await b.ended(run.id);
    expect([ended.status, Object.keys(await b.files(ended.resultSourceId))]).toEqual([
      'completed',
      ['a.txt', 'b.txt'],
    ]);
    expect(
      (await toolsOf(b, run.id)).map((t: { name: string; status: string }) => `${t.name} ${t.status}`),
    ).toEqual(['write failed', 'bash completed']);
  });
});

describe('approvals of an agent that says late what a call does', () => {
  const late = (rule: object) =>
    bench({ thread: { modelId: 'messages/late-1' }, settings: { approvals: [rule] } });
  const answerOf = async (b: Bench) => (await b.list('messages')).at(-1).content as string;

  test('rules decide on what it asks about', async () => {
    const b = await late({ tool: 'read', pattern: 'cat secret*', decision: 'deny' });
    const run = await b.work('Please.');
    expect([await answerOf(b), await toolsOf(b, run.id)]).toMatchObject([
      'answered no',
      [{ name: 'read', input: { command: 'cat secret' } }],
    ]);
  });

  test('a remembered answer is for that command only', async () => {
    const b = await late({ tool: 'read', decision: 'ask' });
    const { run } = await b.send('Please.');
    const asked = await until('a question', async () => (await b.list('approvals'))[0]);
    expect(await toolsOf(b, run.id)).toMatchObject([{ id: asked.toolId, input: { command: 'cat secret' } }]);
    await ok(s.call('POST', `${b.at}/approvals/${asked.id}`, { decision: 'approve', remember: true }));
    await b.ended(run.id);
    expect(await answerOf(b)).toBe('answered yes');
    expect(
      await s.service.ctx.db
        .selectFrom('remembered_decisions')
        .select(['tool', 'command', 'allow'])
        .where('thread_id', '=', b.threadId)
        .execute(),
    ).toEqual([{ tool: 'read', command: 'cat secret', allow: true }]);
  });
});

describe('MCP servers of the project', () => {
  /** Answers initialize, tools/list and tools/call; `said` is the tool's answer. */
  const answer = (
    message: { id?: number; method: string; params?: { protocolVersion?: string } },
    said: string,
  ) => {
    if (message.id === undefined) return null;
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: message.params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'test', version: '1' },
      },
      'tools/list': {
        tools: [{ name: 'speak', description: 'Speaks.', inputSchema: { type: 'object', properties: {} } }],
      },
      'tools/call': { content: [{ type: 'text', text: said }] },
    };
    const result = results[message.method];
    return {
      jsonrpc: '2.0',
      id: message.id,
      ...(result ? { result } : { error: { code: -32601, message: 'no such method' } }),
    };
  };
  const inSandbox = `const answer = ${answer.toString()};
let rest = '';
process.stdin.on('data', (part) => {
  const lines = (rest + part).split('\\n');
  rest = lines.pop();
  for (const line of lines) { const out = answer(JSON.parse(line), 'from inside with ' + process.env.WORD); if (out) process.stdout.write(JSON.stringify(out) + '\\n'); }
});`;

  test('one in the sandbox and one over HTTP are tools of the model', async () => {
    const seen: (string | undefined)[] = [];
    const http = createServer((req, res) => {
      let body = '';
      req
        .on('data', (part: Buffer) => {
          body += part.toString();
        })
        .on('end', () => {
          seen.push(req.headers['x-secret'] as string | undefined);
          const out =
            req.method === 'POST'
              ? answer(JSON.parse(body) as Parameters<typeof answer>[0], 'from outside')
              : null;
          res
            .writeHead(out ? 200 : req.method === 'POST' ? 202 : 405, { 'content-type': 'application/json' })
            .end(out ? JSON.stringify(out) : undefined);
        });
    });
    await new Promise<void>((resolve) => {
      http.listen(0, '127.0.0.1', resolve);
    });
    try {
      const b = await bench({ files: { 'server.mjs': inSandbox } });
      const add = (fields: object) =>
        ok(s.call('POST', '/api/mcp-servers', { projectIds: [b.appId], ...fields }));
      await add({ name: 'inside', transport: 'stdio', command: 'node server.mjs', env: { WORD: 'heron' } });
      await add({
        name: 'outside',
        transport: 'http',
        url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
        headers: { 'x-secret': 'only outside' },
      });
      const run = await b.work(
        say({ call: [{ tool: 'inside__speak' }, { tool: 'outside__speak' }] }, { say: 'Done.' }),
      );
      expect(
        (await toolsOf(b, run.id))
          .map((t: { name: string; output: string }) => `${t.name}: ${t.output}`)
          .toSorted(),
      ).toEqual(['inside__speak: from inside with heron', 'outside__speak: from outside']);
      expect(new Set(seen)).toEqual(new Set(['only outside']));
    } finally {
      http.closeAllConnections();
      http.close();
    }
  });
});

test('stop ends a run whose model hangs within two seconds', async () => {
  const b = await bench();
  const { run } = await b.send(say(WRITE, { hang: true }));
  await until('the file to be written', async () => (await toolsOf(b, run.id))[0]?.status === 'completed');
  const from = Date.now();
  await ok(s.call('POST', `${b.at}/stop`, {}));
  const ended = await b.ended(run.id);
  expect(Date.now() - from).toBeLessThan(2_000);
  expect([ended.status, (await b.thread()).latestSourceId]).toEqual(['cancelled', b.sourceId]);
});

test('retry of a message that joined a run repeats what the run was begun with', async () => {
  const b = await bench();
  const { run } = await b.send(`Build a boat. ${say({ hang: true })}`);
  await until('it to be steerable', async () => (await b.thread()).runSteerable);
  await b.send(`Paint it red. ${say({ say: 'Red.' })}`);
  await ok(s.call('POST', `${b.at}/stop`, {}));
  await b.ended(run.id);
  const again = await b.ended((await ok(s.call('POST', `${b.at}/retry`, {}))).run.id);
  expect([again.status, (await b.list('messages')).at(-1).content]).toEqual(['completed', 'Red.']);
  expect(
    callsOf('Paint it red.')
      .map(({ body }) => JSON.stringify(body))
      .filter((text) => /was interrupted.*Build a boat\..*Paint it red\./.test(text)),
  ).toHaveLength(1);
});

test('retry repeats the last message from the last good source', async () => {
  const b = await bench();
  await b.work(say(WRITE, { error: 401, times: 1 }, { say: 'Done.' }), 'failed');
  const { run } = await ok(s.call('POST', `${b.at}/retry`, {}));
  const ended = await b.ended(run.id);
  expect([ended.status, ended.kind, ended.baseSourceId]).toEqual(['completed', 'retry', b.sourceId]);
});
