/** Every place where text leaves a sandbox, as mask.ts lists them: none lets a secret out. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { JournalEntry, TurnRequest } from '../protocol.ts';
import { endOf, makeBench, outputOf, tarStream } from '../runner.fixture.ts';
import { fakeAgent } from '../tasks/fake-agent.fixture.ts';
import { entriesOf } from '../runner.fixture.ts';
import { formsOf } from './forms.ts';
import { captureChanges, capture } from '../capture/capture.ts';

const bench = await makeBench();
const canOverlay = bench !== undefined && (await bench.workspaces.trees.probe());
const SECRET = 'S3cret/"of"+the-app';
const LONG = `${SECRET}, and a longer one`;
const given = {
  variables: { TOKEN: SECRET, LONG, PLAIN: 'plain value' },
  secrets: [SECRET, LONG],
  timeoutMs: 30_000,
};
let counter = 0;

async function workspace(files = {}): Promise<string> {
  const id = `thr_${++counter}`;
  await bench!.workspaces.put(id, tarStream(files));
  return id;
}

const leaksIn = (entries: JournalEntry[]): string[] => {
  const told = JSON.stringify(entries);
  return formsOf([SECRET]).filter(
    (form) => told.includes(form) || told.includes(JSON.stringify(form).slice(1, -1)),
  );
};

async function turn(code: string, more: Partial<TurnRequest> = {}, id?: string): Promise<JournalEntry[]> {
  const entries = await bench!.run(`run_${++counter}`, {
    kind: 'turn',
    workspaceId: id ?? (await workspace()),
    agent:
      fakeAgent(`const T = process.env.TOKEN; const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
on['session/prompt'] = async () => { ${code}; return { stopReason: 'end_turn' }; };`),
    prompt: 'the message',
    permissions: 'allow',
    ...given,
    ...more,
  });
  expect(leaksIn(entries)).toEqual([]);
  return entries;
}

const tool = (more: string) =>
  `update({ sessionUpdate: 'tool_call', toolCallId: 't', title: 'do ' + T, kind: 'execute', ${more} });`;
const lastTool = (entries: JournalEntry[]) => entries.findLast((entry) => entry.type === 'tool')!;

test('the list names the files that mask, and no other file writes to a journal', () => {
  const folder = new URL('../', import.meta.url);
  const text = (file: string) => readFileSync(new URL(file, folder), 'utf8');
  const listed = [...text('masking/mask.ts').matchAll(/^ \* {3}(tasks\/[\w-]+\.ts) /gm)].map(
    ([, file]) => file!,
  );
  const files = readdirSync(new URL('tasks', folder)).filter((name) => /^[\w-]+\.ts$/.test(name));
  const masks = files.filter((name) => /mask\.(text|stream|json)\(/i.test(text(`tasks/${name}`)));
  expect(masks.map((name) => `tasks/${name}`).sort()).toEqual(listed.toSorted());
  const writes = files.filter((name) => /journal\.(append|text)\(/i.test(text(`tasks/${name}`)));
  // A preview says that something listens, and nothing of the sandbox's.
  expect(writes.filter((name) => name !== 'preview.ts' && !masks.includes(name))).toEqual([]);
});

describe.skipIf(!bench)('a command', () => {
  const command =
    'printf "a $TOKEN b"; printf "%s" "$TOKEN" | head -c 7; sleep 0.1; printf "%s" "$TOKEN" | tail -c +8; printf "$LONG" >&2; echo; echo "$PLAIN"';
  const shown = 'a *** b***\nplain value\n';

  test('in a workspace, and the values are there', async () => {
    const entries = await bench!.run(`op_${++counter}`, {
      kind: 'exec',
      workspaceId: await workspace(),
      command: `${command}; test "\${#TOKEN}" = ${SECRET.length}`,
      ...given,
    });
    expect(leaksIn(entries)).toEqual([]);
    expect([outputOf(entries, 'stdout'), outputOf(entries, 'stderr')]).toEqual([shown, '***']);
    expect(endOf(entries)).toMatchObject({ exitCode: 0 });
  });

  test.each(['build', 'preview'] as const)('of a %s', async (kind) => {
    const { task } = bench!.tasks.start(`bld_${++counter}`, {
      ...(kind === 'build' ? { kind, outputDirectory: '.' } : { kind, port: 3999 }),
      command: `${command}; exit 3`,
      ...given,
    });
    await task.putSource(tarStream({ a: 'b' }));
    const entries = await entriesOf(task);
    expect(leaksIn(entries)).toEqual([]);
    expect(outputOf(entries, 'stdout')).toBe(shown);
    await bench!.tasks.remove(task.id);
  });

  test('what is kept of a long output is masked before it is cut', async () => {
    const entries = await bench!.run(`op_${++counter}`, {
      kind: 'exec',
      workspaceId: await workspace(),
      command: `node -e 'process.stdout.write("y".repeat(4 * 1024 * 1024 - 5) + process.env.TOKEN.repeat(9))'`,
      ...given,
    });
    expect(outputOf(entries).slice(-10)).toBe('yyyyy*****');
  });

  test('a secret without end is read up to a limit, and no beginning of it is shown there', async () => {
    const entries = await bench!.run(`op_${++counter}`, {
      kind: 'exec',
      workspaceId: await workspace(),
      command: `node -e 'process.stdout.write(process.env.TOKEN.repeat(1024 * 1024) + "the end")'`,
      ...given,
    });
    expect(leaksIn(entries)).toEqual([]);
    // A cut secret at the limit, and what comes after it, are dropped.
    expect(outputOf(entries)).toBe('***'.repeat(Math.floor((16 * 1024 * 1024) / SECRET.length)));
    expect(endOf(entries)).toMatchObject({ exitCode: 0 });
  });

  test('that reads what a turn has left is masked as the turn was; another is not', async () => {
    const id = await workspace();
    await turn("require('fs').writeFileSync('report', T)", {}, id);
    const cat = { kind: 'exec', workspaceId: id, command: 'cat report', timeoutMs: 30_000 } as const;
    expect(outputOf(await bench!.run(`op_${++counter}`, { ...cat, isOfTurn: true }))).toBe('***');
    expect(outputOf(await bench!.run(`op_${++counter}`, cat))).toBe(SECRET);
  });
});

describe.skipIf(!bench)('an agent', () => {
  test('its reply, in pieces too', async () => {
    const entries = await turn(
      "text('a ' + T.slice(0, 5)); await sleep(150); text(T.slice(5) + ' b ' + T.slice(0, 4))",
    );
    expect(entries.findLast((entry) => entry.type === 'text')).toMatchObject({
      content: `a *** b ${SECRET.slice(0, 4)}`,
    });
  });

  test("a tool's id, name, title, input and output", async () => {
    const entries = await turn(
      `update({ sessionUpdate: 'tool_call', toolCallId: T, title: 'do ' + T, kind: T, rawInput: { [T]: [{ deep: 'x' + T }] } });
       update({ sessionUpdate: 'tool_call_update', toolCallId: T, status: 'completed', content: [{ type: 'content', content: { type: 'text', text: 'out ' + T } }] })`,
    );
    expect(lastTool(entries)).toMatchObject({
      title: 'do ***',
      name: '***',
      input: { '***': [{ deep: 'x***' }] },
      output: 'out ***',
      status: 'completed',
    });
  });

  test.each([
    [
      'in pieces',
      "_meta: { terminal_output: { data: 'x' + T.slice(0, 6) } } }); update({ sessionUpdate: 'tool_call_update', toolCallId: 't', _meta: { terminal_output: { data: T.slice(6) + 'y' } }",
    ],
    ['as a raw result', "rawOutput: { text: 'x' + T + 'y' }"],
  ])('output of a tool %s', async (_, more) => {
    const entries = await turn(
      `${tool(more)} update({ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'completed' })`,
    );
    expect(lastTool(entries)).toMatchObject({ output: expect.stringContaining('x***y') as string });
  });

  test('pieces of a tool that was left open', async () => {
    const entries = await turn(tool("_meta: { terminal_output: { data: 'x' + T.slice(0, 6) } }"));
    expect(lastTool(entries)).toMatchObject({ output: `x${SECRET.slice(0, 6)}`, status: 'failed' });
  });

  test('texts that are cut: none ends with the beginning of a secret', async () => {
    const pad = (length: number) => `'y'.repeat(${length}) + T`;
    const entries = await turn(
      `${tool(`rawInput: ${pad(64 * 1024 - 8)}, rawOutput: ${pad(64 * 1024 - 8)}`).replace("'do ' + T", pad(995))}; text(${pad(512 * 1024 - 5)})`,
    );
    expect(JSON.stringify(entries)).not.toContain(SECRET.slice(0, 3));
  });

  test('a question, and the call that it is about', async () => {
    const { task } = bench!.tasks.start(`run_${++counter}`, {
      kind: 'turn',
      workspaceId: await workspace(),
      agent: fakeAgent(
        `on['session/prompt'] = async () => { await ask('session/request_permission', { sessionId: 's', options: [], toolCall: { toolCallId: 't', title: process.env.TOKEN, rawInput: process.env.TOKEN } }); return { stopReason: 'cancelled' }; };`,
      ),
      prompt: 'the message',
      permissions: 'ask',
      ...given,
    });
    const asked: JournalEntry[] = [];
    for await (const entry of task.journal.read(0, AbortSignal.timeout(30_000))) {
      asked.push(entry);
      if (entry.type === 'permission') task.answerPermission(entry.requestId, false);
    }
    expect(asked.find((entry) => entry.type === 'permission')).toMatchObject({ title: '***', input: '***' });
    expect(endOf(asked).error!.message).toContain('the call `***` was denied');
    expect(leaksIn(asked)).toEqual([]);
  });

  test.each([
    ["its own error's", 'throw { code: 1, message: T + " failed" }'],
    ["its own error's, cut", 'throw { code: 1, message: "y".repeat(995) + T }'],
    [
      'its stderr',
      'process.stderr.write(T.slice(0, 4)); await sleep(50); process.stderr.write(T.slice(4) + "y".repeat(995)); await sleep(50); process.exit(3)',
    ],
    [
      'what is no message',
      'for (let i = 0; i < 102; i++) process.stdout.write("y".repeat(495) + T + "\\n"); await sleep(5000)',
    ],
  ])('the message of an error: %s', async (_, code) => {
    const { error } = endOf(await turn(code));
    expect(error!.message).not.toContain(SECRET.slice(0, 3));
    expect(error!.message).not.toContain(SECRET.slice(-4));
    expect(error!.message).toMatch(/y|\*\*\*/);
  });

  test('why a script failed', async () => {
    const { error } = endOf(
      await turn("return { stopReason: 'end_turn', _meta: { 'headrace/scriptFailed': 'exit 3: ' + T } }"),
    );
    expect(error).toEqual({ code: 'script_failed', message: 'exit 3: ***' });
    const cut = endOf(
      await turn(
        "return { stopReason: 'end_turn', _meta: { 'headrace/scriptFailed': 'y'.repeat(998) + T } }",
      ),
    );
    expect(cut.error!.message).toBe(`${'y'.repeat(998)}**`);
  });

  test('it is told the names of variables and what they are for, and finds values in its environment alone', async () => {
    const code =
      "on['session/prompt'] = ({ prompt }) => { text(JSON.stringify([prompt, process.env.PLAIN, process.env.HOME])); return { stopReason: 'end_turn' }; };";
    const entries = await turn('', {
      agent: fakeAgent(code, { env: { PLAIN: "the agent's own" } }),
      variableTargets: { TOKEN: ['run', 'build'], OTHER: ['preview'] },
    });
    const reply = entries.findLast((entry) => entry.type === 'text')!.content;
    expect(reply).toContain('TOKEN (run, build); OTHER (preview)');
    expect(reply).toContain(`"the agent's own","/home/agent"`);
    expect(reply).not.toContain('***');
  });
});

describe.skipIf(!bench)('files that a turn has changed and that hold the value of a secret', () => {
  const write =
    "const fs = require('fs'); fs.writeFileSync('new', 'x' + T); fs.writeFileSync('near', T.slice(1)); fs.renameSync('old', 'moved'); fs.writeFileSync('big', 'y'.repeat(400000) + T)";

  test('are found in a whole capture', async () => {
    const id = await workspace({ old: SECRET, kept: 'k' });
    await turn(write, {}, id);
    const found = await capture(bench!.host, bench!.workspaces.get(id), ['old', 'kept']);
    expect(found.secrets!.toSorted()).toEqual(['big', 'moved', 'new']);
    await bench!.run(`op_${++counter}`, {
      kind: 'exec',
      workspaceId: id,
      command: 'true',
      timeoutMs: 30_000,
    });
    expect((await capture(bench!.host, bench!.workspaces.get(id), ['kept'])).secrets).toEqual([]);
  });

  test.skipIf(!canOverlay)('are found over kept files, also where they were only moved', async () => {
    const id = `thr_${++counter}`;
    await bench!.workspaces.put(id, tarStream({ old: SECRET, kept: SECRET }), {
      keep: { key: 'src_masked', group: 'prj' },
    });
    await turn(write, {}, id);
    const found = await captureChanges(bench!.host, bench!.workspaces.get(id), ['old', 'kept']);
    expect(found.secrets!.toSorted()).toEqual(['big', 'moved', 'new']);
    expect(found.over).toEqual({ moved: [], missing: ['old'] });
  });
});
