/** What agents of runs get, each kind in its own way, through the whole service. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunnerError } from '@headrace/runner/client';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { fakeAgent } from '../../../runner/src/tasks/fake-agent.fixture.ts';
import { startModelServer } from '../../../../checks/harness/model-server/index.ts';
import type { ModelServer } from '../../../../checks/harness/model-server/index.ts';
import { startTestServer } from '../service.fixture.ts';
import type { TestServer } from '../service.fixture.ts';
import { newBench, ok, sh } from '../threads/threads.fixture.ts';
import type { Bench } from '../threads/threads.fixture.ts';
import { skillOf } from './skills.fixture.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const folder = mkdtempSync(join(tmpdir(), 'headrace-skills-'));
/** Answers with its prompt's texts and its HOME's files. */
const { command } = fakeAgent(`on['session/prompt'] = ({ prompt }) => {
  const files = require('child_process').execSync('find . -type f -exec tail -n 1 {} + | cat', { cwd: process.env.HOME, encoding: 'utf8' });
  text(JSON.stringify({ prompt: prompt.map((one) => one.text), files })); return { stopReason: 'end_turn' }; };`);
let models: ModelServer;
let s: TestServer;
beforeAll(async () => {
  models = await startModelServer();
  const agent = { command, wire: 'anthropic' };
  const config = {
    providers: { messages: { baseUrl: `${models.url}/v1`, wires: ['anthropic'], key: 'none' } },
    prices: { 'messages/*': { inputMicros: 1, outputMicros: 1 } },
    agents: {
      placed: {
        ...agent,
        models: ['messages/placed'],
        instructionsFile: '.a/NOTES.md',
        skillsFolder: '.a/skills',
      },
      told: { ...agent, models: ['messages/told'] },
    },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  s = await startTestServer({ HEADRACE_CONFIG_FILE: join(folder, 'config.json') });
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await s?.close();
  await models?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An app with instructions and a skill, and a thread. */
async function bench(modelId?: string): Promise<Bench> {
  const made = await newBench(s, {
    thread: modelId ? { modelId } : {},
    settings: { instructions: 'Write tests.' },
  });
  await setSkill(made, 'notes');
  return made;
}
const setSkill = (b: Bench, name: string, more = { 'how.txt': `how ${name}` }) =>
  ok(s.call('PUT', `${b.app}/skills/${name}`, skillOf(name, more, `Does ${name}.`)));
const replyOf = async (b: Bench, run: { replyMessageId?: string }) => {
  const messages = (await b.list('messages')) as unknown as { role: string; content: string }[];
  expect(run).toBeDefined();
  return messages.findLast(({ role }) => role === 'assistant')!.content;
};
const look = sh(
  'cd "$HEADRACE_CONTEXT"; { cat instructions.md; echo; cat skills/*/how.txt; } > /workspace/seen.txt',
);
const seen = async (b: Bench) => {
  const run = await b.work(look);
  return (await b.files(run.resultSourceId as string))['seen.txt'];
};

describe('an agent', () => {
  test('of a model has them in its system prompt, and reads a skill when it needs it', async () => {
    const b = await bench('messages/model');
    const steps = [
      { call: [{ tool: 'read', input: { path: '/run/headrace-context/skills/notes/how.txt' } }] },
    ];
    await b.work(`Go.\n\n\`\`\`model\n${JSON.stringify(steps)}\n\`\`\``);
    const { system, messages } = models.calls.at(-1)!.body as {
      system: { text: string }[];
      messages: unknown;
    };
    expect(system[0]!.text).toContain('# Instructions\n\nWrite tests.');
    expect(system[0]!.text).toContain('\n- notes: Does notes.');
    expect(JSON.stringify(messages)).toContain('how notes');
  });

  test('with places of its own finds them there; old skills vanish', async () => {
    const b = await bench('messages/placed');
    const answer = async () =>
      JSON.parse(await replyOf(b, await b.work('Hello'))) as { prompt: string[]; files: string };
    const first = await answer();
    expect(first.prompt).toEqual(['Hello']);
    expect(first.files).toContain('==> ./.a/NOTES.md <==\nWrite tests.');
    expect(first.files).toContain('==> ./.a/skills/notes/how.txt <==\nhow notes');
    await setSkill(b, 'next');
    await ok(s.call('DELETE', `${b.app}/skills/notes`));
    await ok(s.call('PATCH', `${b.app}/settings`, { instructions: null }));
    const { files } = await answer();
    expect(files).toContain('how next');
    expect(files).not.toMatch(/how notes|NOTES/);
  });

  test('without one is told with the first message', async () => {
    const b = await bench('messages/told');
    const { prompt } = JSON.parse(await replyOf(b, await b.work('Hello'))) as { prompt: string[] };
    expect(prompt).toEqual([
      '<instructions>\nWrite tests.\n</instructions>',
      expect.stringContaining('- notes: Does notes. (/run/headrace-context/skills/notes)') as string,
      'Hello',
    ]);
  });
});

describe('what a run began with', () => {
  test('is what it gets, however often its start is tried, and whatever has changed since', async () => {
    const b = await bench();
    const { runner, db } = s.service.ctx;
    const start = vi.spyOn(runner, 'startTask').mockImplementationOnce(async () => {
      await ok(s.call('PATCH', `${b.app}/settings`, { instructions: 'Changed.' }));
      await setSkill(b, 'notes', { 'how.txt': 'changed' });
      await setSkill(b, 'later');
      throw new RunnerError(503, 'unavailable', 'The runner does not answer.');
    });
    expect(await seen(b)).toBe('Write tests.\nhow notes');
    expect(start.mock.calls.length).toBeGreaterThan(1);
    expect(await seen(b)).toBe('Changed.\nhow laterchanged');
    const kept = await db
      .selectFrom('runs')
      .select('id')
      .where('thread_id', '=', b.threadId)
      .where('context', 'is not', null)
      .execute();
    expect(kept).toEqual([]);
  });

  test('is sent once, and again where the runner has dropped it', async () => {
    const b = await bench();
    const { runner } = s.service.ctx;
    const sent = vi.spyOn(runner, 'putContext');
    for (let i = 0; i < 2; i++) expect(await seen(b)).toBe('Write tests.\nhow notes');
    expect(sent).toHaveBeenCalledTimes(1);
    await runner.forgetGroup(b.appId);
    expect(await seen(b)).toBe('Write tests.\nhow notes');
    expect(sent).toHaveBeenCalledTimes(2);
  });

  test('is sent once to a runner that two threads need it of at a time', async () => {
    const b = await bench();
    const { runner } = s.service.ctx;
    const { thread } = await ok(s.call('POST', `${b.app}/threads`, {}));
    const put = runner.putContext;
    const start = vi.spyOn(runner, 'startTask');
    const sent = vi.spyOn(runner, 'putContext').mockImplementation(async (...given) => {
      await vi.waitFor(
        () => {
          expect(start.mock.settledResults.filter(({ type }) => type === 'rejected')).toHaveLength(2);
        },
        { timeout: 20_000 },
      );
      return put(...given);
    });
    const at = `${b.app}/threads/${thread.id}`;
    const first = await b.send(look);
    const second = await ok(s.call('POST', `${at}/messages`, { content: look }));
    const ends = [await b.ended(first.run.id)];
    ends.push((await ok(s.call('GET', `${at}/runs/${second.run.id}?waitSeconds=30`))).run);
    expect(ends.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(sent).toHaveBeenCalledTimes(1);
  });

  test('that the sandbox never takes fails the run, which frees its thread', async () => {
    const b = await bench();
    const { runner } = s.service.ctx;
    const refused = new RunnerError(400, 'invalid_tar', 'The archive could not be written: no.');
    vi.spyOn(runner, 'putContext').mockRejectedValue(refused);
    expect((await b.work(look, 'failed')).error).toEqual({
      code: 'workspace_unavailable',
      message: `The sandbox does not take the instructions and skills of this run: ${refused.message}`,
    });
    vi.restoreAllMocks();
    expect(await seen(b)).toBe('Write tests.\nhow notes');
  });

  test('that the sandbox does not take leaves a run that can be stopped', async () => {
    const b = await bench();
    const sent = vi.spyOn(s.service.ctx.runner, 'putContext').mockImplementation(async () => {
      await ok(s.call('POST', `${b.at}/stop`, {}));
      throw new RunnerError(400, 'invalid_tar', 'no');
    });
    await b.work(look, 'cancelled');
    expect(sent).toHaveBeenCalledTimes(1);
  });

  test('whose archive is damaged fails the run, until the skill is set again', async () => {
    const b = await bench();
    const { store, db } = s.service.ctx;
    const { archive_key: key } = await db
      .selectFrom('skills')
      .select('archive_key')
      .where('project_id', '=', b.appId)
      .executeTakeFirstOrThrow();
    await store.put(key, Buffer.from('damaged'));
    expect((await b.work(look, 'failed')).error).toEqual({
      code: 'workspace_unavailable',
      message: 'The files of the skill notes are damaged or lost. Set the skill again.',
    });
    await setSkill(b, 'notes');
    expect(await seen(b)).toBe('Write tests.\nhow notes');
  });

  test('is nothing in an app without instructions and skills: nothing is sent or asked for', async () => {
    const b = await newBench(s, { settings: { instructions: ' \n' } });
    const sent = vi.spyOn(s.service.ctx.runner, 'putContext');
    const start = vi.spyOn(s.service.ctx.runner, 'startTask');
    const run = await b.work(sh('ls -A "$HEADRACE_CONTEXT" > seen.txt'));
    expect((await b.files(run.resultSourceId as string))['seen.txt']).toBe('');
    expect(sent).not.toHaveBeenCalled();
    expect(start.mock.calls[0]![1]).not.toHaveProperty('context');
  });
});
