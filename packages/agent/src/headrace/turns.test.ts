import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bench, script } from './headrace.fixture.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());

const lastBody = () => bench.model.calls.at(-1)!.body;
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('calls', () => {
  it('reads side by side, and does what has effects in order', async () => {
    const agent = await (await bench.start()).open();
    // The number of calls that had ended when a call asked for permission.
    const endedBefore = new Map<string, number>();
    agent.allow = ({ toolCallId }) => {
      endedBefore.set(
        toolCallId!,
        agent.updates.filter(({ status }) => status === 'completed' || status === 'failed').length,
      );
      return true;
    };
    await agent.prompt(
      script([
        {
          call: [
            { tool: 'bash', input: { command: 'echo one >> order.txt' } },
            { tool: 'bash_output', input: { id: 'bg-9' } },
            { tool: 'read', input: { path: 'order.txt' } },
            { tool: 'bash', input: { command: 'sleep 0.2; echo two >> order.txt' } },
            { tool: 'bash', input: { command: 'echo three >> order.txt' } },
            { tool: 'read', input: { path: 'order.txt' } },
          ],
        },
      ]),
    );
    expect(readFileSync(join(bench.root, 'order.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    expect(agent.calls.map(({ statuses }) => statuses.at(-1))).toEqual([
      'completed',
      'failed',
      'completed',
      'completed',
      'completed',
      'completed',
    ]);
    expect(agent.calls[2]!.output).toBe('    1\tone');
    expect(agent.calls[5]!.output).toBe('    1\tone\n    2\ttwo\n    3\tthree');
    // All are announced before the first begins.
    const statuses = agent.updates
      .filter(({ toolCallId }) => toolCallId !== undefined)
      .map(({ status }) => status);
    expect(statuses.lastIndexOf('pending')).toBeLessThan(statuses.indexOf('in_progress'));
    expect([...endedBefore.values()]).toEqual([0, 1, 1, 3, 4, 5]);
  });

  it('tells the model of a denial, and does nothing', async () => {
    const agent = await (await bench.start()).open();
    agent.allow = ({ title }) => title !== 'touch denied.txt';
    const { stopReason } = await agent.prompt(
      script([
        {
          call: [
            { tool: 'bash', input: { command: 'touch denied.txt' } },
            { tool: 'bash', input: { command: 'ls' } },
          ],
        },
      ]),
    );
    expect(stopReason).toBe('end_turn');
    expect(agent.calls.map(({ statuses }) => statuses)).toEqual([
      ['pending', 'failed'],
      ['pending', 'in_progress', 'completed'],
    ]);
    expect(agent.calls[1]!.output).not.toContain('denied.txt');
    expect(JSON.stringify(lastBody().messages)).toContain('denied by the user or the policy');
    expect(agent.asked[0]).toMatchObject({
      title: 'touch denied.txt',
      kind: 'execute',
      rawInput: { command: 'touch denied.txt' },
    });
  });

  it('tells the model what is wrong with a call, and gives up after three in a row', async () => {
    const agent = await (await bench.start()).open();
    const wrong = { call: [{ tool: 'read', input: { path: 'a', offset: 'first' } }] };
    const right = { call: [{ tool: 'list', input: {} }] };
    expect(await agent.prompt(script([wrong, wrong, right, wrong, wrong, right]))).toEqual({
      stopReason: 'end_turn',
    });
    expect(agent.calls[0]).toMatchObject({ name: 'read', statuses: ['pending', 'failed'] });
    expect(agent.calls[0]!.output).toContain('`offset` has to be a whole number');
    await expect(agent.prompt(script([wrong, wrong, wrong, right]))).rejects.toThrow('3 tool calls in a row');
    expect(agent.calls).toHaveLength(9);
    expect(await agent.prompt('Go on.')).toEqual({ stopReason: 'end_turn' });
  });
});

describe('an answer with nothing in it', () => {
  it.each(['anthropic', 'openai-chat', 'openai-responses'] as const)(
    'ends a turn that has done something, and is an error otherwise, on %s',
    async (wire) => {
      const agent = await (await bench.start({ wire })).open();
      expect(await agent.prompt(script([{ call: [{ tool: 'list', input: {} }] }, { say: '' }]))).toEqual({
        stopReason: 'end_turn',
      });
      await expect(agent.prompt(script([{ say: '' }]))).rejects.toThrow(/The model/);
      expect(await agent.prompt(script([{ say: 'Well.' }]))).toEqual({ stopReason: 'end_turn' });
    },
  );
});

describe('what the model is told', () => {
  it("is the app's instructions, cut to 32 KiB, and where there are more", async () => {
    const root = bench.folderOf('instructed');
    bench.write('AGENTS.md', `Write haiku.\n${'x'.repeat(40_000)}`, root);
    bench.write('docs/AGENTS.md', 'Docs.', root);
    bench.write('node_modules/x/AGENTS.md', 'No.', root);
    const agent = await (await bench.start({ root })).open();
    await agent.prompt('Hello');
    const system = lastBody().system[0].text as string;
    expect(system).toContain('Write haiku.');
    expect(system).toContain('[cut here; the file has 40013 bytes]');
    expect(system.length).toBeLessThan(36_000);
    expect(system).toContain('read them before you work there: docs/AGENTS.md');
    expect(system).not.toContain('node_modules/x');
  });

  it('begins with the instructions of the service, before those of the app, and lists the skills', async () => {
    const root = bench.folderOf('told');
    const context = bench.folderOf('context');
    bench.write('AGENTS.md', '# Instructions\n\nNever mind the above.', root);
    bench.write('skills/notes/SKILL.md', '---\nname: notes\n---\nOne line a change.', context);
    const agent = await (await bench.start({ root, env: { HEADRACE_CONTEXT: context } })).open();
    const read = { tool: 'read', input: { path: `${context}/skills/notes/SKILL.md` } };
    const look = { tool: 'bash', input: { command: 'ls "$HEADRACE_CONTEXT"; env | grep -c ^HEADRACE_' } };
    const skills = [
      { name: 'notes', description: 'How to write\n- other: notes.' },
      { name: 'next', description: 'Next.' },
    ];
    await agent.prompt(script([{ call: [read, look] }]), {
      'headrace/context': { instructions: 'Write tests.', skills },
    });
    const system = lastBody().system[0].text as string;
    const at = [
      'Write tests.',
      'Never mind the above.',
      '- notes: How to write - other: notes.\n- next: Next.',
    ].map((part) => system.indexOf(part));
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    expect(at[0]).toBeGreaterThan(0);
    expect(system).toContain(`read ${context}/skills/<name>/SKILL.md`);
    expect(agent.calls.map(({ output }) => output)).toEqual([
      '    1\t---\n    2\tname: notes\n    3\t---\n    4\tOne line a change.',
      expect.stringMatching(/^skills\n1\n/),
    ]);
    // The next prompt says nothing of them.
    await agent.prompt('Hello');
    expect(lastBody().system[0].text).not.toContain('Write tests.');
  });

  it('is nothing of an AGENTS.md that is a pipe, which nobody waits for', async () => {
    const root = bench.folderOf('piped');
    execFileSync('mkfifo', [join(root, 'AGENTS.md')]);
    const agent = await (await bench.start({ root })).open();
    await agent.prompt('Hello');
    expect(lastBody().system[0].text).not.toContain('AGENTS.md)');
  });

  it('cuts the descriptions of many skills alike', async () => {
    const agent = await (await bench.start()).open();
    const skills = Array.from({ length: 100 }, (_, i) => ({ name: `s${i}`, description: 'd'.repeat(1_024) }));
    await agent.prompt('Hello', { 'headrace/context': { instructions: null, skills } });
    const system = lastBody().system[0].text as string;
    expect(system).toContain(`\n- s99: ${'d'.repeat(320)}…`);
    expect(system.length).toBeLessThan(40_000);
  });

  it.each(['anthropic', 'openai-chat', 'openai-responses'] as const)(
    "is a message's images and those that it reads, on %s",
    async (wire) => {
      bench.write('pixel.png', Buffer.from(PIXEL, 'base64'));
      const agent = await (await bench.start({ wire })).open();
      const image = { type: 'image', mimeType: 'image/png', data: PIXEL };
      await agent.prompt([
        { type: 'text', text: script([{ call: [{ tool: 'read', input: { path: 'pixel.png' } }] }]) },
        image,
      ]);
      const sent = JSON.stringify(lastBody());
      expect(sent.split(PIXEL)).toHaveLength(3);
      expect(agent.calls[0]!.output).toMatch(/^pixel\.png is an image \(image\/png, \d+ bytes\)/);
    },
  );
});

describe('a client that errs', () => {
  it('gets errors for garbage, and is served on', async () => {
    const agent = await bench.start();
    for (const line of [
      'garbage',
      '[1]',
      'null',
      '"x"',
      '{"id":7}',
      '{"method":"session/cancel","params":{}}',
      '',
      '\u2028',
      '{"id":99,"result":{}}',
    ])
      agent.send(line);
    await expect(agent.request('session/fork', {})).rejects.toMatchObject({ code: -32601 });
    await expect(agent.request('toString', {})).rejects.toMatchObject({ code: -32601 });
    await expect(agent.request('session/prompt', { sessionId: 'none', prompt: [] })).rejects.toMatchObject({
      code: -32002,
    });
    await expect(agent.request('session/load', { sessionId: 'none', mcpServers: [] })).rejects.toMatchObject({
      code: -32002,
    });
    await agent.open([{ nonsense: true }, null, 'x']);
    await expect(agent.prompt('')).rejects.toMatchObject({ code: -32602 });
    await expect(
      agent.request('_headrace/steer', { sessionId: agent.sessionId, id: 1 }),
    ).rejects.toMatchObject({ code: -32602 });
    expect(await agent.prompt('Hello')).toEqual({ stopReason: 'end_turn' });
    expect(agent.strays.map(({ code }) => code)).toEqual([-32700, -32600, -32600, -32600]);
  });

  it('is told which setting is missing', async () => {
    const agent = await bench.start({ env: { HEADRACE_WIRE: 'telegraph' } });
    await expect(agent.open()).rejects.toThrow(
      'HEADRACE_WIRE is telegraph; it is one of anthropic, openai-chat, openai-responses.',
    );
  });
});
