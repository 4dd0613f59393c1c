/** Runs Claude Code and Codex as a host does: in a folder of this machine, without a sandbox, with settings of its user. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HostTurnRequest } from '../../packages/runner/src/host/protocol.ts';
import { startHost, turnOf } from '../../packages/runner/src/host/host.fixture.ts';
import type { TestHost } from '../../packages/runner/src/host/host.fixture.ts';
import { startModelServer } from '../harness/model-server/index.ts';
import type { ModelServer } from '../harness/model-server/index.ts';
import { agentsOfGuide } from './guide.ts';

const KEY = 'sk-of-the-host';
const CLAUDE_SETTINGS = { permissions: { ask: ['Bash'] } };
const CODEX_SETTINGS = (url: string) => `model = "gpt-6.1-sol"
model_provider = "own"
check_for_update_on_startup = false

[model_providers.own]
name = "Own"
base_url = "${url}/v1"
env_key = "OWN_KEY"
wire_api = "responses"

[analytics]
enabled = false
`;

interface Own {
  program: string;
  env(url: string): Record<string, string>;
  /** Files of its HOME. */
  home(url: string): Record<string, string>;
  /** What its command needs to ask. */
  asked: Record<string, unknown>;
}

const AGENTS: Record<string, Own> = {
  'claude-code': {
    program: 'claude-agent-acp',
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: KEY,
      ANTHROPIC_SMALL_FAST_MODEL: 'claude-sonnet-4-5',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // Otherwise it does not start as root.
      IS_SANDBOX: '1',
    }),
    home: () => ({ '.claude/settings.json': JSON.stringify(CLAUDE_SETTINGS) }),
    asked: {},
  },
  codex: {
    program: 'codex-acp',
    // Its own sandbox does not start on every machine.
    env: () => ({ OWN_KEY: KEY, NO_BROWSER: '1', INITIAL_AGENT_MODE: 'agent-full-access' }),
    home: (url) => ({ '.codex/config.toml': CODEX_SETTINGS(url) }),
    asked: { sandbox_permissions: 'require_escalated', justification: 'May it?' },
  },
};
const guide = agentsOfGuide();

const say = (...steps: unknown[]) => `Please.\n\n\`\`\`model\n${JSON.stringify(steps)}\n\`\`\``;

describe.each(Object.entries(AGENTS))('%s on a host', (name, own) => {
  const { entry } = guide.find((one) => one.name === name)!;
  const bin = join(entry.folder, 'node_modules/.bin');
  if (!existsSync(bin)) {
    test.skip(`SKIPPED: ${name} is not installed in ${entry.folder}`);
    return;
  }
  const top = mkdtempSync(join(tmpdir(), 'headrace-host-agents-'));
  const folder = join(top, 'site');
  let models: ModelServer;
  let host: TestHost;

  beforeAll(async () => {
    models = await startModelServer({ requiredKey: KEY });
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n');
    for (const [path, content] of Object.entries(own.home(models.url))) {
      mkdirSync(join(top, path, '..'), { recursive: true });
      writeFileSync(join(top, path), content);
    }
    const variables = { ...own.env(models.url), HOME: top, PATH: `${bin}:${process.env['PATH']}` };
    const words = Object.entries(variables).map(([key, value]) => `${key}=${value}`);
    const agent = `agent_a=env ${words.join(' ')} ${join(bin, own.program)}`;
    host = await startHost({ folder, state: join(top, 'state'), agent });
    await host.line.put('/workspaces/thr_1', { binding: 'site', mode: 'direct', branch: 'headrace/x' });
  });
  afterAll(async () => {
    await host?.stop();
    await models?.close();
    rmSync(top, { recursive: true, force: true });
  });
  const begin = async (id: string, more: Partial<HostTurnRequest>): Promise<void> => {
    expect((await host.line.post(`/tasks/${id}`, turnOf({ timeoutMs: 150_000, ...more }))).status).toBe(201);
  };

  test('edits files and runs commands in the folder', async () => {
    const steps = [
      { call: [{ tool: 'read', input: { path: 'a.txt' } }] },
      { call: [{ tool: 'edit', input: { path: 'a.txt', old: 'two', new: 'three' } }] },
      { call: [{ tool: 'bash', input: { command: 'echo c | tee c.txt' } }] },
      { say: 'It is done.' },
    ];
    const model = name === 'claude-code' ? 'claude-sonnet-4-5' : null;
    await begin('run_1', { prompt: say(...steps), model });
    const entries = await host.line.journal('run_1');
    expect(entries.at(-1)).toMatchObject({ type: 'end', outcome: 'completed', error: null });
    expect(JSON.stringify(entries)).toContain('It is done.');
    expect(['a.txt', 'c.txt'].map((path) => readFileSync(join(folder, path), 'utf8'))).toEqual([
      'one\nthree\n',
      'c\n',
    ]);
  });

  test('asks before a command, and does not run it when it is denied', async () => {
    const input = { command: 'echo denied > denied.txt', ...own.asked };
    await begin('run_2', {
      prompt: say({ call: [{ tool: 'bash', input }] }, { say: 'A pity.' }),
      permissions: 'ask',
    });
    const asked = (await host.line.journal('run_2', ({ type }) => type === 'permission')).at(-1);
    expect(asked).toMatchObject({ type: 'permission' });
    const { requestId } = asked as { requestId: string };
    await host.line.post(`/tasks/run_2/permissions/${requestId}`, { allow: false });
    expect((await host.line.journal('run_2')).at(-1)).toMatchObject({ type: 'end' });
    expect(existsSync(join(folder, 'denied.txt'))).toBe(false);
  });

  test('goes on in its session, and is ended in the middle of a command', async () => {
    await begin('run_3', {
      prompt: say({ call: [{ tool: 'bash', input: { command: 'echo > began; sleep 100' } }] }),
    });
    await expect.poll(() => existsSync(join(folder, 'began')), { timeout: 100_000 }).toBe(true);
    expect((await host.line.post('/tasks/run_3/cancel')).status).toBe(204);
    expect((await host.line.journal('run_3')).at(-1)).toMatchObject({ outcome: 'cancelled' });
    const heard = models.calls.some(({ body }) =>
      ['sleep 100', 'It is done.'].every((text) => JSON.stringify(body ?? null).includes(text)),
    );
    expect(heard).toBe(true);
  });
});
