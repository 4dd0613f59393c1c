/**
 * Runs the guide's agents through the whole service: sandbox, relay, gateway, and a model server that follows
 * the message.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startModelServer } from '../harness/model-server/index.ts';
import type { ModelServer } from '../harness/model-server/index.ts';
import { signedIn } from '../../packages/server/src/accounts/callers.fixture.ts';
import { startTestServer } from '../../packages/server/src/service.fixture.ts';
import type { TestServer } from '../../packages/server/src/service.fixture.ts';
import { newBench, ok, until } from '../../packages/server/src/threads/threads.fixture.ts';
import type { Bench } from '../../packages/server/src/threads/threads.fixture.ts';
import { agentsOfGuide } from './guide.ts';
import { startNotes } from './mcp-server.ts';

const KEY = 'sk-of-the-provider';
const SLOW_MS = 90_000;

interface Traits {
  modelId: string;
  /** Names of the tools that it reports for a file change and for a command. */
  tools: { edit: string; command: string };
  /** What its commands need, in addition to their text, to ask for permission; null: it asks for none. */
  asked: Record<string, unknown> | null;
  /** How a turn with a denied call ends, and whether the model learns of it. */
  denied: { status: 'completed' | 'failed'; goesOn: boolean };
  /** How its model calls the tool `jot` of the MCP server `notes`; null: it supports no such servers. */
  jot: object[] | null;
}

const NOTE = { text: 'remember the milk' };
const call = (tool: string, input: Record<string, unknown>) => ({ tool, input });

const TRAITS: Record<string, Traits> = {
  'claude-code': {
    modelId: 'anthropic/claude-sonnet-4-5',
    tools: { edit: 'Edit', command: 'Bash' },
    asked: {},
    denied: { status: 'completed', goesOn: true },
    jot: [
      { call: [call('ToolSearch', { query: 'select:mcp__notes__jot', max_results: 3 })] },
      { call: [call('mcp__notes__jot', NOTE)] },
    ],
  },
  codex: {
    modelId: 'openai/gpt-6.1-sol',
    tools: { edit: 'edit', command: 'execute' },
    asked: { sandbox_permissions: 'require_escalated', justification: 'May it?' },
    denied: { status: 'failed', goesOn: false },
    jot: [
      {
        call: [
          call('exec', {
            input: `text(JSON.stringify(await tools.mcp__notes__jot(${JSON.stringify(NOTE)})))`,
          }),
        ],
      },
    ],
  },
  pi: {
    modelId: 'anthropic/claude-sonnet-4-5',
    tools: { edit: 'edit', command: 'execute' },
    asked: null,
    denied: { status: 'completed', goesOn: true },
    jot: null,
  },
  opencode: {
    modelId: 'anthropic/claude-sonnet-4-5',
    tools: { edit: 'edit', command: 'execute' },
    asked: {},
    denied: { status: 'completed', goesOn: false },
    jot: [{ call: [call('notes_jot', NOTE)] }],
  },
};
const agents = agentsOfGuide();
const only = process.env['HEADRACE_AGENTS_ONLY']?.split(',');

test('the guide has settings for each agent', () => {
  expect(agents.map(({ name }) => name).sort()).toEqual(Object.keys(TRAITS).sort());
});

const say = (text: string, ...steps: unknown[]) => `${text}\n\n\`\`\`model\n${JSON.stringify(steps)}\n\`\`\``;

describe.each(agents.filter(({ name }) => !only || only.includes(name)))('$name', ({ name, entry }) => {
  const { modelId, tools, asked, denied, jot } = TRAITS[name]!;
  if (!existsSync(join(entry.folder, 'node_modules/.bin'))) {
    test.skip(`SKIPPED: ${name} is not installed in ${entry.folder}`);
    return;
  }
  const folder = join(tmpdir(), `headrace-agents-tests-${randomUUID()}`);
  const file = join(folder, 'config.json');
  const opened: TestServer[] = [];
  let models: ModelServer;
  let s: TestServer;

  const env = {
    HEADRACE_MCP_ALLOW_PRIVATE: '1',
    HEADRACE_CONFIG_FILE: file,
    HEADRACE_DATA_DIR: join(folder, 'data'),
  };
  beforeAll(async () => {
    mkdirSync(folder);
    models = await startModelServer({ requiredKey: KEY });
    const provider = (...wires: string[]) => ({ baseUrl: `${models.url}/v1`, wires });
    const price = { inputMicros: 1_000_000, outputMicros: 2_000_000 };
    writeFileSync(
      file,
      JSON.stringify({
        agents: { [name]: entry },
        providers: { anthropic: provider('anthropic'), openai: provider('openai-responses', 'openai-chat') },
        prices: { 'anthropic/*': price, 'openai/*': price },
      }),
    );
    s = await startTestServer(env);
    opened.unshift(s);
    await ok(
      s.call(
        'PUT',
        `/api/model-keys/${modelId.split('/', 1)[0]!}`,
        { key: KEY },
        { cookie: await signedIn(s) },
      ),
    );
  });
  afterAll(async () => {
    for (const one of opened) await one.close();
    await models?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const bench = (approvals?: unknown[]) =>
    newBench(s, {
      files: { 'a.txt': 'one\ntwo\n' },
      thread: { modelId },
      ...(approvals && { settings: { approvals } }),
    });
  const ended = (b: Bench, runId: string) =>
    until(
      'the run to end',
      async () => {
        const { run } = await ok(s.call('GET', `${b.at}/runs/${runId}?waitSeconds=20`));
        return ['completed', 'failed', 'cancelled'].includes(run.status) && run;
      },
      SLOW_MS,
    );
  const work = async (b: Bench, content: string) => {
    const { run } = await ok(s.call('POST', `${b.at}/messages`, { content }));
    const over = await ended(b, run.id);
    expect([over.status, over.error]).toEqual(['completed', null]);
    return over;
  };
  const toolsOf = async (
    b: Bench,
    runId: string,
  ): Promise<{ name: string; status: string; output: string | null }[]> =>
    (await ok(s.call('GET', `${b.at}/runs/${runId}/tools`))).tools;
  /** Whether one request to the model contained all of them: the newest message and an earlier one. */
  const heard = (...texts: string[]) =>
    models.calls.some(({ body }) => texts.every((text) => JSON.stringify(body ?? null).includes(text)));

  test('edits files: a new source, its tool calls, what it used and cost', async () => {
    const b = await bench();
    const run = await work(
      b,
      say(
        'Please.',
        { say: 'I look.', call: [call('read', { path: 'a.txt' })], inputTokens: 1000, outputTokens: 100 },
        {
          call: [
            call('edit', { path: 'a.txt', old: 'two', new: 'three' }),
            call('bash', { command: 'echo c | tee c.txt' }),
          ],
        },
        { call: [call('write', { path: 'b.txt', content: 'b\n' })] },
        { say: 'It is done.' },
      ),
    );
    expect(run).toMatchObject({ agent: name, modelId });
    expect(await b.files(run.resultSourceId)).toEqual({
      'a.txt': 'one\nthree\n',
      'b.txt': 'b\n',
      'c.txt': 'c\n',
    });
    const used = await toolsOf(b, run.id);
    expect(used.find((tool) => tool.name === tools.command)?.output).toMatch(/^c$/m);
    const done = used.map((tool) => `${tool.name} ${tool.status}`);
    expect(done).toEqual(expect.arrayContaining([`${tools.edit} completed`, `${tools.command} completed`]));
    expect((await b.list('messages')).at(-1)).toMatchObject({
      role: 'assistant',
      content: expect.stringContaining('It is done.') as string,
    });
    expect(run.usage.inputTokens).toBeGreaterThan(1000);
    expect(run.usage.costMicros).toBe(run.usage.inputTokens + 2 * run.usage.outputTokens);
  });

  test.runIf(asked)('asks before a command, which runs when it is approved', async () => {
    const b = await bench([{ tool: tools.command, decision: 'ask' }]);
    const { run } = await b.send(
      say(
        'Please.',
        { call: [call('bash', { command: 'echo asked > asked.txt', ...asked })] },
        { say: 'Done.' },
      ),
    );
    const approval = await until('a question', async () => (await b.list('approvals'))[0], SLOW_MS);
    expect(await b.thread()).toMatchObject({ status: 'waiting', waitingOn: [`approval:${approval.id}`] });
    await ok(s.call('POST', `${b.at}/approvals/${approval.id}`, { decision: 'approve' }));
    const over = await ended(b, run.id);
    expect([over.status, (await b.files(over.resultSourceId))['asked.txt']]).toEqual([
      'completed',
      'asked\n',
    ]);
  });

  test.runIf(!asked)('is kept from runs for which a rule says ask or deny', async () => {
    const b = await bench([{ tool: tools.command, decision: 'deny' }]);
    expect((await b.work(say('Please.', { say: 'x' }), 'failed')).error.code).toBe('not_configured');
  });

  test.runIf(asked)('does not run a command that is denied', async () => {
    const b = await bench([{ tool: tools.command, decision: 'ask' }]);
    const { run } = await b.send(
      say(
        'Please.',
        { call: [call('bash', { command: 'echo denied > denied.txt', ...asked })] },
        { say: 'What a pity.' },
      ),
    );
    const approval = await until('a question', async () => (await b.list('approvals'))[0], SLOW_MS);
    await ok(s.call('POST', `${b.at}/approvals/${approval.id}`, { decision: 'deny' }));
    const over = await ended(b, run.id);
    expect(over.status).toBe(denied.status);
    if (over.error) expect(over.error.message).toMatch(/the call `.*denied.*` was denied/);
    if (over.resultSourceId) expect(Object.keys(await b.files(over.resultSourceId))).toEqual(['a.txt']);
    expect((await toolsOf(b, run.id)).map(({ status }) => status)).not.toContain('completed');
    const answer = (await b.list('messages')).at(-1);
    expect(answer.role === 'assistant' && answer.content.includes('What a pity.')).toBe(denied.goesOn);
  });

  test('stops within two seconds, and takes the next message', async () => {
    const b = await bench();
    const { run } = await b.send(
      say('Please.', { call: [call('bash', { command: 'sleep 100' })] }, { say: 'Never said.' }),
    );
    await until('the command to run', async () => (await toolsOf(b, run.id)).length > 0, SLOW_MS);
    const from = Date.now();
    await ok(s.call('POST', `${b.at}/stop`, {}));
    const over = await b.ended(run.id);
    expect([over.status, Date.now() - from < 2_000]).toEqual(['cancelled', true]);
    await work(b, say('Instead of that:', { say: 'The next one.' }));
    expect((await b.list('messages')).at(-1).content).toContain('The next one.');
  });

  test.runIf(jot)('uses an MCP server', async () => {
    const notes = await startNotes();
    onTestFinished(() => notes.close());
    const b = await bench();
    const { mcpServer } = await ok(
      s.call('POST', '/api/mcp-servers', { name: 'notes', transport: 'http', url: notes.url }),
    );
    onTestFinished(async () => {
      await ok(s.call('DELETE', `/api/mcp-servers/${mcpServer.id}`));
    });
    await work(b, say('Please.', ...jot!, { say: 'Noted.' }));
    expect(notes.jotted).toEqual([NOTE.text]);
  });

  test('knows the instructions, and which skills there are', async () => {
    const b = await bench();
    await ok(s.call('PATCH', `${b.app}/settings`, { instructions: 'Lanterns are lit at dusk.' }));
    const files = [
      {
        path: 'SKILL.md',
        content: '---\nname: tide-tables\ndescription: Reads the tables of a harbour.\n---\nAsk the pilot.\n',
      },
    ];
    await ok(s.call('PUT', `${b.app}/skills/tide-tables`, { files }));
    await work(b, say('The first of two.', { say: 'Yes.' }));
    expect(
      heard('The first of two.', 'Lanterns are lit at dusk.', 'tide-tables', 'tables of a harbour'),
    ).toBe(true);
    // As they are when a run begins.
    await ok(s.call('PATCH', `${b.app}/settings`, { instructions: null }));
    await ok(s.call('DELETE', `${b.app}/skills/tide-tables`));
    const other = await ok(s.call('POST', `${b.app}/threads`, { modelId }));
    const { run } = await ok(
      s.call('POST', `${b.app}/threads/${other.thread.id}/messages`, {
        content: say('The only one.', { say: 'No.' }),
      }),
    );
    await ended({ ...b, at: `${b.app}/threads/${other.thread.id}` }, run.id);
    expect(heard('The only one.')).toBe(true);
    expect(heard('The only one.', 'Lanterns')).toBe(false);
  });

  test('goes on with the conversation, also after the service was restarted', async () => {
    const b = await bench();
    await work(
      b,
      say('The word is heron.', { call: [call('read', { path: 'a.txt' })] }, { say: 'I keep it in mind.' }),
    );
    await work(b, say('What was the word, first time?', { say: 'heron' }));
    expect(heard('first time?', 'The word is heron.')).toBe(true);
    await s.service.stop();
    s = await startTestServer(env, s);
    opened.unshift(s);
    await work(b, say('What was the word, second time?', { say: 'heron again' }));
    expect(heard('second time?', 'The word is heron.')).toBe(true);
  });
});
