import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AGENTS_FOLDER, type JournalEntry, type TurnRequest } from '../protocol.ts';
import { endOf, entriesOf, makeBench, scratch, tarStream } from '../runner.fixture.ts';
import { ANSWER_MS } from './acp-session.ts';
import { fakeAgent } from './fake-agent.fixture.ts';
import type { Task } from './task.ts';

const bench = await makeBench();
const folder = scratch();
chmodSync(folder, 0o755);
let counter = 0;

async function workspace(): Promise<string> {
  const id = `thr_${++counter}`;
  await bench!.workspaces.put(id, tarStream({}));
  return id;
}

const start = (workspaceId: string, more: Partial<TurnRequest>): Task =>
  bench!.tasks.start(`run_${++counter}`, {
    kind: 'turn',
    workspaceId,
    agent: fakeAgent(''),
    prompt: 'the message',
    permissions: 'allow',
    timeoutMs: 30_000,
    ...more,
  }).task;
const turn = async (more: Partial<TurnRequest>, id?: string): Promise<JournalEntry[]> =>
  entriesOf(start(id ?? (await workspace()), more));
const replyOf = (entries: JournalEntry[]): string =>
  entries.flatMap((e) => (e.type === 'text' ? [e.content] : [])).at(-1) ?? '';
const reply = async (more: Partial<TurnRequest>, id?: string): Promise<string> => {
  const entries = await turn(more, id);
  expect(endOf(entries).error).toBe(null);
  return replyOf(entries);
};
const failure = async (more: Partial<TurnRequest>): Promise<{ code: string; message: string } | null> =>
  endOf(await turn(more)).error;

/** Replies with its prompt, as JSON. */
const ECHO =
  "on['session/prompt'] = ({ prompt }) => { text(JSON.stringify(prompt)); return { stopReason: 'end_turn' }; };";
const capable = (capabilities: object): string =>
  `on.initialize = () => ({ protocolVersion: 1, agentCapabilities: ${JSON.stringify(capabilities)} });`;
/** Keeps its sessions' prompts in HOME. */
const REMEMBERS = `const fs = require('fs'), file = (id) => process.env.HOME + '/' + id; ${capable({ loadSession: true })}
on['session/new'] = () => { const id = 's' + fs.readdirSync(process.env.HOME).length; fs.writeFileSync(file(id), ''); return { sessionId: id }; };
on['session/load'] = ({ sessionId }) => { if (!fs.existsSync(file(sessionId))) throw { code: -32002, message: 'no session' }; text('replayed'); return {}; };
on['session/prompt'] = ({ sessionId, prompt }) => { fs.appendFileSync(file(sessionId), JSON.stringify(prompt.map((p) => p.text)) + ';'); text(fs.readFileSync(file(sessionId), 'utf8')); if (prompt.some((p) => p.text === 'die')) process.exit(3); return { stopReason: 'end_turn' }; };`;

describe.skipIf(!bench)('where an agent comes from', () => {
  const agents = join(folder, 'agents');
  mkdirSync(join(agents, 'node_modules/.bin'), { recursive: true });
  mkdirSync(join(agents, 'node_modules/thing'), { recursive: true });
  const script = fakeAgent(
    "on['session/prompt'] = () => { text(process.argv[1] + ' ' + process.env.PATH.split(':')[0]); return { stopReason: 'end_turn' }; };",
  ).command![2]!;
  writeFileSync(join(agents, 'node_modules/thing/main.js'), `#!/usr/bin/env node\n${script}`, {
    mode: 0o755,
  });
  symlinkSync('../thing/main.js', join(agents, 'node_modules/.bin/thing'));
  writeFileSync(join(folder, 'outside.sh'), '#!/bin/sh\n', { mode: 0o755 });
  symlinkSync('../../../outside.sh', join(agents, 'node_modules/.bin/outside'));
  const inside = `${AGENTS_FOLDER}/fake`;
  const at = (command: string, more = {}): Partial<TurnRequest> => ({
    agent: { ...fakeAgent(''), folder: agents, command: [command], install: 'npm install thing', ...more },
  });

  test.each(['thing', `${inside}/node_modules/.bin/thing`, `${inside}/node_modules/thing/main.js`])(
    '%s is found in its folder, whose commands go first',
    async (command) => {
      expect(await reply(at(command))).toMatch(
        new RegExp(`^${inside}/node_modules/.* ${inside}/node_modules/.bin$`),
      );
    },
  );

  test.each([
    'none',
    'outside',
    '/root/thing',
    './thing',
    `${inside}/none`,
    `${inside}/../../../../etc/passwd`,
    '',
  ])('a command %j that is not there is not configured, and how to install it is told', async (command) => {
    expect(await failure(at(command))).toMatchObject({
      code: 'not_configured',
      message: expect.stringMatching(/npm install thing$/) as string,
    });
  });

  test('a folder that is not there, is a file, or may not be read is not configured', async () => {
    expect(await failure(at('thing', { folder: join(folder, 'none') }))).toMatchObject({
      code: 'not_configured',
      message: expect.stringContaining('is not there') as string,
    });
    expect(await failure(at('thing', { folder: join(agents, 'node_modules/thing/main.js') }))).toMatchObject({
      code: 'not_configured',
    });
    if (bench!.host.uid === null) return;
    mkdirSync(join(folder, 'closed'), { mode: 0o700 });
    cpSync(agents, join(folder, 'closed/agents'), { recursive: true, verbatimSymlinks: true });
    expect(await failure(at('thing', { folder: join(folder, 'closed/agents') }))).toMatchObject({
      code: 'not_configured',
      message: expect.stringContaining('may not read') as string,
    });
  });

  test('a built-in one that does not exist is not configured', async () => {
    expect(await failure({ agent: { ...fakeAgent(''), name: 'nobody', command: null } })).toMatchObject({
      code: 'not_configured',
    });
  });
});

describe.skipIf(!bench)('what an agent is given', () => {
  test('environment, files in its HOME, mode and servers', async () => {
    const code = `on['session/new'] = (p) => { global.servers = p.mcpServers; return { sessionId: 's', modes: { currentModeId: 'a', availableModes: [{ id: 'a', name: 'A' }, { id: 'b', name: 'B' }] } }; };
on['session/set_mode'] = (p) => { global.mode = p.modeId; return {}; };
on['session/prompt'] = () => { text(JSON.stringify([process.env.KEY, require('fs').readFileSync(process.env.HOME + '/.x/settings.json', 'utf8'), global.mode, global.servers])); return { stopReason: 'end_turn' }; };`;
    const request: Partial<TurnRequest> = {
      agent: fakeAgent(capable({ mcpCapabilities: { http: true } }) + code, {
        env: { KEY: 'value' },
        home: { '.x/settings.json': '{}' },
        mode: 'b',
      }),
      mcpServers: [
        { transport: 'stdio', name: 'one', command: ['run', 'it'], env: { A: 'b' } },
        { transport: 'http', name: 'two', url: 'http://127.0.0.1:4401/mcp/x', headers: { H: 'v' } },
      ],
    };
    const [one, two] = [
      { name: 'one', command: 'run', args: ['it'], env: [{ name: 'A', value: 'b' }] },
      { type: 'http', name: 'two', url: 'http://127.0.0.1:4401/mcp/x', headers: [{ name: 'H', value: 'v' }] },
    ];
    expect(JSON.parse(await reply(request))).toEqual(['value', '{}', 'b', [one, two]]);
    expect(
      JSON.parse(
        await reply({ ...request, agent: fakeAgent(code, { home: { '.x/settings.json': '' }, mode: 'a' }) }),
      ),
    ).toEqual([null, '', null, [one]]);
    expect(await failure({ ...request, agent: fakeAgent(code, { mode: 'c' }) })).toMatchObject({
      code: 'agent_error',
      message: expect.stringContaining('it has a, b') as string,
    });
  });

  test('attachments as it takes them', async () => {
    const data = Buffer.from('bytes').toString('base64');
    const attachments = ['image/png', 'text/csv', 'application/pdf'].map((mediaType) => ({
      mediaType,
      data,
    }));
    const left = (type: string): object => ({
      type: 'text',
      text: `[An attachment of type ${type} was left out: the agent does not take it.]`,
    });
    const message = { type: 'text', text: 'the message' };
    expect(
      JSON.parse(
        await reply({
          attachments,
          agent: fakeAgent(capable({ promptCapabilities: { image: true, embeddedContext: true } }) + ECHO),
        }),
      ),
    ).toEqual([
      message,
      { type: 'image', mimeType: 'image/png', data },
      { type: 'resource', resource: { uri: 'attachment:///2', mimeType: 'text/csv', text: 'bytes' } },
      left('application/pdf'),
    ]);
    expect(JSON.parse(await reply({ attachments, agent: fakeAgent(ECHO) }))).toEqual([
      message,
      left('image/png'),
      { type: 'text', text: 'Attachment 2 (text/csv):\nbytes' },
      left('application/pdf'),
    ]);
  });

  test('a key by the method that needs no person; else it is told what it wants', async () => {
    const locked = (
      methods: object[],
    ): string => `on.initialize = () => ({ protocolVersion: 1, authMethods: ${JSON.stringify(methods)} });
let isIn = false; on.authenticate = ({ methodId }) => { isIn = methodId === 'api-key'; if (!isIn) throw { code: -32000, message: 'no' }; return {}; };
on['session/new'] = () => { if (!isIn) throw { code: -32000, message: 'Authentication required' }; return { sessionId: 's' }; };${ECHO}`;
    expect(
      await reply({
        agent: fakeAgent(
          locked([
            { id: 'login', name: 'Log in', type: 'terminal' },
            { id: 'api-key', name: 'Key' },
          ]),
        ),
      }),
    ).toContain('the message');
    expect(await failure({ agent: fakeAgent(locked([{ id: 'login', name: 'Log in' }])) })).toMatchObject({
      code: 'agent_error',
      message: expect.stringMatching(/signed in.*login/) as string,
    });
  });
});

describe.skipIf(!bench)('a session', () => {
  const agent = fakeAgent(REMEMBERS);
  const history = [
    { role: 'user' as const, content: 'first' },
    { role: 'assistant' as const, content: 'done' },
  ];

  test('goes on over turns, with its replay left out; a new workspace begins a new one', async () => {
    const id = await workspace();
    expect(await reply({ agent, prompt: 'one' }, id)).toBe('["one"];');
    expect(await reply({ agent, prompt: 'two', history }, id)).toBe('["one"];["two"];');
    await bench!.workspaces.put(id, tarStream({}));
    const fresh = await reply({ agent, prompt: 'three', history }, id);
    expect(JSON.parse(fresh.slice(0, -1))).toEqual([
      expect.stringMatching(/conversation so far[^]*<user>\nfirst\n<\/user>\n<assistant>\ndone\n/) as string,
      'three',
    ]);
  });

  test('that was interrupted is told so', async () => {
    const id = await workspace();
    expect(endOf(await turn({ agent, prompt: 'die' }, id))).toMatchObject({
      outcome: 'failed',
      error: { code: 'agent_error', message: expect.stringContaining('ended with 3') as string },
    });
    expect(await reply({ agent, prompt: 'on' }, id)).toMatch(
      /^\["die"\];\["\[The turn before this message was interrupted.*","on"\];$/,
    );
    expect(await reply({ agent, prompt: 'more' }, id)).toMatch(/;\["more"\];$/);
  });

  test('that the agent no longer has begins anew, with the conversation', async () => {
    const id = await workspace();
    await reply({ agent, prompt: 'one' }, id);
    expect(
      await reply(
        {
          agent: fakeAgent(
            `${REMEMBERS} for (const f of fs.readdirSync(process.env.HOME)) fs.unlinkSync(file(f));`,
          ),
          prompt: 'two',
          history,
        },
        id,
      ),
    ).toMatch(/^\["This is the conversation so far.*","two"\];$/);
  });

  test("is the agent's own: another finds another HOME, and links in it lead nowhere", async () => {
    const id = await workspace();
    await reply(
      {
        agent: fakeAgent(
          "on['session/new'] = () => { require('fs').symlinkSync('/workspace', process.env.HOME + '/.x'); return { sessionId: 's' }; };",
        ),
      },
      id,
    );
    const lists =
      "on['session/prompt'] = () => { const fs = require('fs'); text(fs.readdirSync(process.env.HOME) + '|' + fs.readdirSync('/workspace')); return { stopReason: 'end_turn' }; };";
    expect(await reply({ agent: fakeAgent(lists, { name: 'other' }) }, id)).toBe('|.git');
    expect(await reply({ agent: fakeAgent(lists, { home: { '.x/settings.json': 'x' } }) }, id)).toBe(
      '.x|.git',
    );
  });
});

describe.skipIf(!bench)('a HOME in which an agent', () => {
  test.each([
    ['closes everything', 'chmod 000 $HOME/.x $HOME /workspace'],
    ['puts a pipe', 'rm $HOME/.x/s; mkfifo $HOME/.x/s'],
    ['puts a hard link', 'echo o > $HOME/o; ln -f $HOME/o $HOME/.x/s'],
    ['puts a link', 'rm -r $HOME/.x; ln -s /workspace $HOME/.x'],
    ['puts a folder that is closed', 'rm $HOME/.x/s; mkdir -p $HOME/.x/s/y/z; chmod 000 $HOME/.x/s/y'],
  ])('%s is written as configured', async (_, command) => {
    const id = await workspace();
    await reply(
      {
        agent: fakeAgent(
          `on['session/prompt'] = () => { require('child_process').execSync('${command}'); return { stopReason: 'end_turn' }; };`,
          { home: { '.x/s': 'first' } },
        ),
      },
      id,
    );
    const reads =
      "on['session/prompt'] = () => { const fs = require('fs'); text(fs.readFileSync(process.env.HOME + '/.x/s', 'utf8') + fs.readdirSync('/workspace')); return { stopReason: 'end_turn' }; };";
    expect(await reply({ agent: fakeAgent(reads, { home: { '.x/s': 'second' } }) }, id)).toBe('second.git');
  });
});

describe.skipIf(!bench)('steering', () => {
  const TAKES = `${capable({ _meta: { 'headrace/steer': true } })} const taken = []; let end; on['session/prompt'] = () => new Promise((resolve) => { end = () => { text(taken.join()); resolve({ stopReason: 'end_turn' }); }; });
on['_headrace/steer'] = ({ id, prompt }) => { if (prompt === 'no') return { taken: false }; taken.push(id + ':' + prompt); if (prompt === 'end') setTimeout(end, 20); return { taken: true }; };`;
  const ready = async (task: Task): Promise<JournalEntry> => {
    for await (const entry of task.journal.read(0, AbortSignal.timeout(20_000)))
      if (entry.type === 'ready' || entry.type === 'end') return entry;
    throw new Error('no entry');
  };
  const refused = { status: 409, code: 'not_steerable' };

  test('hands a message over once, and tells what the agent took', async () => {
    const task = start(await workspace(), { agent: fakeAgent(TAKES) });
    await expect(task.steer({ id: 'm0', prompt: 'early' })).rejects.toMatchObject(refused);
    expect(await ready(task)).toMatchObject({ type: 'ready', steerable: true });
    await Promise.all([task.steer({ id: 'm1', prompt: 'a' }), task.steer({ id: 'm1', prompt: 'a' })]);
    await task.steer({ id: 'm1', prompt: 'a' });
    await expect(task.steer({ id: 'm2', prompt: 'no' })).rejects.toMatchObject(refused);
    await task.steer({ id: 'm3', prompt: 'end' });
    const entries = await entriesOf(task);
    expect(replyOf(entries)).toBe('m1:a,m3:end');
    expect(entries.flatMap((e) => (e.type === 'steered' ? [e.id] : []))).toEqual(['m1', 'm3']);
    await expect(task.steer({ id: 'm4', prompt: 'late' })).rejects.toMatchObject(refused);
    await task.steer({ id: 'm1', prompt: 'a' });
  });

  test('hands attachments over as the agent takes them', async () => {
    const code = `${capable({ _meta: { 'headrace/steer': true }, promptCapabilities: { image: true } })} let end; on['session/prompt'] = () => new Promise((resolve) => { end = resolve; });
on['_headrace/steer'] = ({ prompt }) => { text(JSON.stringify(prompt)); setTimeout(end, 20, { stopReason: 'end_turn' }); return { taken: true }; };`;
    const task = start(await workspace(), { agent: fakeAgent(code) });
    await ready(task);
    await task.steer({ id: 'm1', prompt: 'look', attachments: [{ mediaType: 'image/png', data: 'AAAA' }] });
    expect(JSON.parse(replyOf(await entriesOf(task)))).toEqual([
      { type: 'text', text: 'look' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ]);
  });

  test('is refused where the agent cannot', async () => {
    const task = start(await workspace(), {
      agent: fakeAgent("on['session/prompt'] = () => new Promise(() => {});"),
    });
    expect(await ready(task)).toMatchObject({ type: 'ready', steerable: false });
    await expect(task.steer({ id: 'm1', prompt: 'a' })).rejects.toMatchObject(refused);
    await task.cancel();
  });
});

describe.skipIf(!bench)('an agent that', () => {
  const PROMPTED = (code: string): string =>
    `on['session/prompt'] = () => { ${code}; return new Promise(() => {}); };`;
  const failed = async (
    code: string,
    more: Partial<TurnRequest> = {},
  ): Promise<{ message: string; ms: number; bytes: number }> => {
    const before = process.memoryUsage().rss,
      at = Date.now();
    const error = await failure({ agent: fakeAgent(code), ...more });
    expect(error?.code).toBe('agent_error');
    return { message: error!.message, ms: Date.now() - at, bytes: process.memoryUsage().rss - before };
  };

  test.each([
    [
      'prints garbage',
      "for (let i = 0; i < 200; i++) console.log('[info] garbage ' + i);",
      /does not speak.*\[info\] garbage 0/,
    ],
    ['prints binary', "process.stdout.write(require('crypto').randomBytes(3000000));", /does not speak/],
    [
      'prints JSON of no message',
      "for (let i = 0; i < 200; i++) console.log('{\"a\":' + i + '}');",
      /does not speak/,
    ],
    [
      'answers what nobody asked',
      'for (let i = 0; i < 200; i++) say({ id: 1000 + i, result: {} });',
      /does not speak/,
    ],
    [
      'prints a line of 100 MB',
      PROMPTED(
        "const part = 'x'.repeat(1000000); let i = 0; const more = () => { while (i++ < 100) if (!process.stdout.write(part)) return process.stdout.once('drain', more); }; more()",
      ),
      /line of more than 8 MiB/,
    ],
    [
      'says 100 MB',
      PROMPTED(
        "const part = 'x'.repeat(100000); let i = 0; const more = () => { while (i++ < 1000) { text(part); if (process.stdout.writableNeedDrain) return process.stdout.once('drain', more); } }; more()",
      ),
      /reply had more than 8 million/,
    ],
    [
      'thinks without end',
      PROMPTED(
        "const part = 'x'.repeat(1000000); const more = () => { for (;;) { update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: part } }); if (process.stdout.writableNeedDrain) return process.stdout.once('drain', more); } }; more()",
      ),
      /wrote more than 256 MiB/,
    ],
    [
      'makes 100,000 calls',
      PROMPTED(
        "let i = 0; const more = () => { while (i++ < 100000) { update({ sessionUpdate: 'tool_call', toolCallId: 'c' + i, title: 't', status: 'completed' }); if (process.stdout.writableNeedDrain) return process.stdout.once('drain', more); } }; more()",
      ),
      /more than 5000 tool calls/,
    ],
    [
      'opens 1,000 calls at once',
      PROMPTED(
        "for (let i = 0; i < 1000; i++) update({ sessionUpdate: 'tool_call', toolCallId: 'c' + i, title: 't', rawInput: 'x'.repeat(60000) })",
      ),
      /256 tool calls under way/,
    ],
    [
      'asks 10,000 times',
      PROMPTED(
        "(async () => { for (let i = 0; i < 10000; i++) await ask('session/request_permission', { toolCall: { toolCallId: 'c' }, options: [{ optionId: 'a', kind: 'allow_once' }] }); })()",
      ),
      /permission more than 2000 times/,
    ],
    ['never answers', 'on.initialize = () => new Promise(() => {});', /did not answer initialize within/],
    ['exits at once', "console.error('no licence'); process.exit(4);", /ended with 4 .*no licence/],
    ['opens no session', "on['session/new'] = () => ({});", /opened no session/],
    ['speaks another version', 'on.initialize = () => ({ protocolVersion: 7 });', /version 7/],
    ['ends its turn with nothing', "on['session/prompt'] = () => null;", /without saying how/],
    [
      'refuses',
      "on['session/prompt'] = () => { throw { code: -1, message: 'not today' }; };",
      /failed: not today/,
    ],
    [
      'nests 4,000,000 levels deep',
      PROMPTED("process.stdout.write('{\"a\":' + '['.repeat(4000000) + ']'.repeat(4000000) + '}\\n')"),
      /nested more than 500 levels/,
    ],
    [
      'writes 2,000,000 values',
      PROMPTED(
        "process.stdout.write('{\"a\":\"' + '\\\\\\\\\"'.repeat(2) + '\",\"b\":[' + '{},'.repeat(2000000) + '0]}\\n')",
      ),
      /more than 250000 values/,
    ],
    ['tells of a call without an id', PROMPTED("update({ sessionUpdate: 'tool_call' })"), /without an id/],
  ])('%s ends with a named error, within bounds', async (_, code, message) => {
    ANSWER_MS.initialize = 5_000;
    const end = await failed(code);
    expect(end.message).toMatch(message);
    expect(end.ms).toBeLessThan(20_000);
    expect(end.bytes).toBeLessThan(400 * 1024 ** 2);
  });

  test.each([30, 400])('nests a call %d deep: what is told of it is flat', async (depth) => {
    const code = `on['session/prompt'] = () => { process.stdout.write('{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c","status":"completed","rawInput":' + '['.repeat(${depth}) + ']'.repeat(${depth}) + '}}}\\n'); return { stopReason: 'end_turn' }; };`;
    const tool = (await turn({ agent: fakeAgent(code) })).find((e) => e.type === 'tool');
    expect(tool).toMatchObject({
      input:
        depth === 30
          ? (JSON.parse('['.repeat(30) + ']'.repeat(30)) as unknown[])
          : { truncated: expect.stringMatching(/^\[+\]*$/) as string },
    });
  });

  test('prints its key as it dies: the error does not tell it', async () => {
    const message = (
      await failure({
        agent: fakeAgent("console.error('key=' + process.env.SOME_API_KEY); process.exit(4);", {
          env: { SOME_API_KEY: 'sk-0123456789' },
        }),
      })
    )?.message;
    expect(message).toMatch(/key=\[secret\]$/);
  });

  test('prints a warning now and then is understood', async () => {
    expect(
      await reply({
        agent: fakeAgent(
          `console.log('warning: old node'); console.log(''); process.stdout.write('\\n'); ${ECHO}`,
        ),
      }),
    ).toContain('the message');
  });

  test('asks for files or terminals gets none, and no option that allows more than once', async () => {
    const code = `on['session/prompt'] = async () => {
      const write = await ask('fs/write_text_file', { path: '/tmp/x', content: '' });
      const always = await ask('session/request_permission', { toolCall: { toolCallId: 'c' }, options: [{ optionId: 'all', kind: 'allow_always' }] });
      const once = await ask('session/request_permission', { toolCall: { toolCallId: 'c' }, options: [{ optionId: 'all', kind: 'allow_always' }, { optionId: 'one', kind: 'allow_once' }] });
      const wrong = await ask('session/request_permission', { options: 'none' });
      text([write.error.code, always.outcome.outcome, once.outcome.optionId, wrong.error.code].join()); return { stopReason: 'end_turn' }; };`;
    expect(await reply({ agent: fakeAgent(code) })).toBe('-32601,cancelled,one,-32602');
  });

  const lastTool = async (updates: string): Promise<JournalEntry | undefined> =>
    (
      await turn({
        agent:
          fakeAgent(`const call = (u) => update({ sessionUpdate: 'tool_call_update', toolCallId: 'c', ...u });
on['session/prompt'] = () => { update({ sessionUpdate: 'tool_call', toolCallId: 'c', title: 't', kind: 'execute', status: 'in_progress' }); ${updates}; return { stopReason: 'end_turn' }; };`),
      })
    ).findLast((e) => e.type === 'tool');
  const piece = (name: string, data: string, more = ''): string =>
    `call({ _meta: { ${name}: { data: ${data}, terminal_id: 'c' } }${more} })`;

  test.each([
    [
      'pieces, then its exit code',
      `${piece('terminal_output_delta', "'a\\n'")}; ${piece('terminal_output_delta', "'b\\n'")}; call({ status: 'completed', rawOutput: { exit_code: 0 } })`,
      'a\nb\n',
      false,
    ],
    [
      'pieces, the last with its end',
      `${piece('terminal_output', "'a'")}; ${piece('terminal_output', "'b'", ", status: 'failed'")}`,
      'ab',
      false,
    ],
    [
      'all at its end, with its exit code',
      piece('terminal_output_delta', "'a'", ", status: 'completed', rawOutput: { exit_code: 0 }"),
      'a',
      false,
    ],
    [
      'a text beside the pieces',
      `${piece('terminal_output', "'a'")}; call({ status: 'completed', content: [{ type: 'content', content: { type: 'text', text: 'all' } }] })`,
      'all',
      false,
    ],
    [
      'pieces behind a text that told something else',
      `call({ content: [{ type: 'content', content: { type: 'text', text: 'May it?' } }] }); ${piece('terminal_output', "'a'", ", status: 'completed'")}`,
      'a',
      false,
    ],
    [
      'pieces of other shapes',
      `${piece('terminal_output', '7')}; call({ _meta: { terminal_output: 'a' } }); call({ status: 'completed', rawOutput: 'raw' })`,
      'raw',
      false,
    ],
    [
      'more than is kept',
      `for (let i = 0; i < 100000; i++) { ${piece('terminal_output_delta', "'é'.repeat(10)")} } call({ status: 'completed' })`,
      'é'.repeat(32 * 1024 - 2),
      true,
    ],
  ])('streams the output of a command: %s', async (_, updates, output, truncated) => {
    expect(await lastTool(updates)).toMatchObject({ output, truncated });
  });

  test('asks about a call tells what it is to do now, not what it said at first', async () => {
    const code = `on['session/prompt'] = async () => { update({ sessionUpdate: 'tool_call', toolCallId: 'c', title: 't', kind: 'read', status: 'in_progress' });
      await ask('session/request_permission', { toolCall: { toolCallId: 'c', status: 'pending', rawInput: { command: 'cat secret' } }, options: [{ optionId: 'a', kind: 'allow_once' }] }); return { stopReason: 'end_turn' }; };`;
    const task = start(await workspace(), { permissions: 'ask', agent: fakeAgent(code) });
    for await (const entry of task.journal.read(0, AbortSignal.timeout(20_000))) {
      if (entry.type !== 'permission') continue;
      expect(entry).toMatchObject({ input: { command: 'cat secret' } });
      task.answerPermission(entry.requestId, true);
    }
  });

  test.each([
    ['', 'The agent ended its turn because the call `rm -rf x` was denied.'],
    [
      "update({ sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'failed' });",
      'The agent ended its turn because the call `rm -rf x` was denied.',
    ],
    [
      "update({ sessionUpdate: 'tool_call', toolCallId: 'd', title: 'ls', status: 'completed' });",
      'The agent cancelled its turn.',
    ],
  ])('ends its turn on a denial (%s) is told so', async (then, message) => {
    const code = `on['session/prompt'] = async () => { const { outcome } = await ask('session/request_permission', { toolCall: { toolCallId: 'c', title: 'rm -rf x' }, options: [{ optionId: 'a', kind: 'allow_once' }, { optionId: 'n', kind: 'reject_once' }] }); if (outcome.optionId !== 'n') throw new Error('not denied'); ${then} return { stopReason: 'cancelled' }; };`;
    const task = start(await workspace(), { permissions: 'ask', agent: fakeAgent(code) });
    for await (const entry of task.journal.read(0, AbortSignal.timeout(20_000))) {
      if (entry.type === 'permission') task.answerPermission(entry.requestId, false);
      if (entry.type === 'end') expect(entry.error).toEqual({ code: 'agent_error', message });
    }
  });

  test('thinks and plans: that is no reply', async () => {
    const code =
      "on['session/prompt'] = () => { update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } }); update({ sessionUpdate: 'plan', entries: [] }); text('reply'); update({ sessionUpdate: 7 }); update(null); return { stopReason: 'end_turn' }; };";
    expect(await reply({ agent: fakeAgent(code) })).toBe('reply');
  });

  test('does not read its answers costs the runner no memory', async () => {
    const code =
      "process.stdin.pause().removeAllListeners('data'); const line = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'fs/read_text_file', params: {} }) + '\\n'; const more = () => { while (process.stdout.write(line.repeat(1000))); process.stdout.once('drain', more); }; more();";
    const before = process.memoryUsage().rss;
    expect(await failure({ agent: fakeAgent(code), timeoutMs: 4_000 })).toMatchObject({
      code: 'agent_error',
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 ** 2);
  });

  test.each([
    ['its HOME', '/home/agent'],
    ['its workspace', '/workspace'],
  ])('fills %s is ended', async (_, where) => {
    const code = PROMPTED(
      `let i = 0; setInterval(() => require('fs').writeFileSync('${where}/f' + i++, Buffer.alloc(1000000)), 10)`,
    );
    expect(await failure({ agent: fakeAgent(code), limits: { diskBytes: 5 * 1024 ** 2 } })).toMatchObject({
      code: 'sandbox_lost',
      message: expect.stringContaining('5 MiB') as string,
    });
  });

  test('takes too much memory is ended, and that is told', async () => {
    const end = endOf(
      await turn({
        agent: fakeAgent(
          PROMPTED('global.held = []; setInterval(() => global.held.push(Buffer.alloc(20000000, 1)), 5)'),
        ),
        limits: { memoryBytes: 256 * 1024 ** 2 },
      }),
    );
    expect(end).toMatchObject({
      outcome: 'failed',
      error: { code: 'sandbox_lost', message: expect.stringContaining('memory') as string },
    });
  });

  test('leaves links, pipes and children that ignore signals: a cancel ends all within 2 s, another task goes on', async () => {
    const code =
      PROMPTED(`const { execSync, spawn } = require('child_process'); process.on('SIGTERM', () => {}); execSync('ln -s /etc/passwd l; ln -s / ' + process.env.HOME + '/root; mkfifo p; mknod d c 1 3 2>/dev/null || true');
for (let i = 0; i < 20; i++) spawn('sh', ['-c', 'trap "" TERM INT HUP; (setsid sleep 1000 &); while :; do sleep 1; done'], { detached: true, stdio: 'ignore' }).unref(); text('spread')`);
    const other = start(await workspace(), {
      agent: fakeAgent(
        "on['session/prompt'] = () => new Promise((resolve) => setTimeout(() => { text('well'); resolve({ stopReason: 'end_turn' }); }, 1500));",
      ),
    });
    const id = await workspace();
    const task = start(id, { agent: fakeAgent(code) });
    for await (const entry of task.journal.read(0, AbortSignal.timeout(20_000)))
      if (entry.type === 'text' || entry.type === 'end') break;
    const at = Date.now();
    await task.cancel();
    expect(Date.now() - at).toBeLessThan(2000);
    expect(endOf(await entriesOf(task)).outcome).toBe('cancelled');
    expect(await reply({ agent: fakeAgent(ECHO, { home: { 'root/x': 'x' } }) }, id)).toContain('the message');
    expect(replyOf(await entriesOf(other))).toBe('well');
  });
});
