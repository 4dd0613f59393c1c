import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bench, script } from './headrace.fixture.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());

/** The part of a request that says what the provider may store, for each wire. */
const KEPT = {
  anthropic: { max_tokens: 16_000, system: [{ cache_control: { type: 'ephemeral' } }] },
  'openai-chat': { stream_options: { include_usage: true } },
  'openai-responses': { store: false },
} as const;

describe.each(['anthropic', 'openai-chat', 'openai-responses'] as const)('on the wire %s', (wire) => {
  it('edits a file, tells what it does, and goes on in the next turn', async () => {
    const root = bench.folderOf(`${wire}/workspace`),
      home = bench.folderOf(`${wire}/home`);
    bench.write('a.txt', 'red\n', root);
    const agent = await (await bench.start({ wire, root, home })).open();
    const end = await agent.prompt(
      script([
        { say: 'I look first.', call: [{ tool: 'read', input: { path: 'a.txt' } }] },
        { call: [{ tool: 'edit', input: { path: 'a.txt', old: 'red', new: 'green' } }] },
        { say: 'It is green.' },
      ]),
    );
    expect(end).toEqual({ stopReason: 'end_turn' });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('green\n');
    expect(agent.reply).toBe('I look first.\n\nIt is green.');
    expect(agent.calls).toMatchObject([
      { name: 'read', kind: 'read', statuses: ['pending', 'in_progress', 'completed'], output: '    1\tred' },
      {
        name: 'edit',
        kind: 'edit',
        title: 'Edit a.txt',
        input: { path: 'a.txt', old_string: 'red', new_string: 'green' },
        statuses: ['pending', 'in_progress', 'completed'],
        output: 'Changed a.txt.',
      },
    ]);
    expect(agent.asked.map(({ title }) => title)).toEqual(['Read a.txt', 'Edit a.txt']);
    await agent.kill();

    const next = await bench.start({ wire, root, home });
    await next.request('session/load', { sessionId: agent.sessionId, cwd: '/', mcpServers: [] });
    next.sessionId = agent.sessionId;
    expect(next.updates).toEqual([]);
    await next.prompt('And now?');
    const sent = JSON.stringify(bench.model.calls.at(-1)!.body);
    expect(bench.model.calls.at(-1)!.body).toMatchObject({
      model: 'local-model',
      stream: true,
      ...KEPT[wire],
    });
    // Once in the script, and once as the answer.
    for (const part of ['I look first.', 'It is green.']) expect(sent.split(part)).toHaveLength(3);
    expect(sent).toContain('And now?');
    expect(next.stderr + agent.stderr).toBe('');
  });

  it('says what the provider answered', async () => {
    const agent = await (await bench.start({ wire })).open();
    for (const status of [400, 401, 402, 429, 500]) {
      await expect(agent.prompt(script([{ error: status }]))).rejects.toThrow(
        `The model's provider answered ${status}: The script says ${status}.`,
      );
    }
    await expect(agent.prompt(script([{ cut: true, chunks: 8 }]))).rejects.toThrow(
      /^The model's answer broke off/,
    );
    await expect(agent.prompt(script([{ nonsense: true }]))).rejects.toThrow(/^The model's answer broke off/);
    expect(await agent.prompt(script([{ say: 'Still here.' }]))).toEqual({ stopReason: 'end_turn' });
    expect(agent.reply).toContain('Still here.');
  });

  it('asks again where the connection was lost, and says so', async () => {
    const agent = await (await bench.start({ wire })).open();
    expect(
      await agent.prompt(script([{ cut: true, chunks: 8, times: 2 }, { say: `Here it is, ${wire}.` }])),
    ).toEqual({ stopReason: 'end_turn' });
    expect(agent.reply.split('[The connection to the model was lost; it is asked again.]')).toHaveLength(3);
    expect(agent.reply).toMatch(/Here it is, [a-z-]+\.$/);
    expect(
      bench.model.calls
        .filter(({ path }) => path !== '/v1/models')
        .slice(-3)
        .map(({ aborted }) => aborted),
    ).toEqual([true, true, false]);
  });
});
