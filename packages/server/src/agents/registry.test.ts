import { describe, expect, test } from 'vitest';
import type { AgentEntry, FileConfig } from '../config-file.ts';
import { agentOf, modelOf, turnAgent } from './registry.ts';

const entry = (more: Partial<AgentEntry> = {}): AgentEntry => ({
  command: ['other', '--model', '{model}'],
  folder: '/srv/agents/other',
  env: { BASE: '{gateway}/{provider}/v1', KEY: '{token}', SAME: '{unknown}' },
  home: { 'a.json': '"{modelId}"' },
  instructionsFile: '.other/NOTES.md',
  skillsFolder: null,
  mode: { allow: 'yolo', ask: 'careful' },
  asks: true,
  wire: 'anthropic',
  models: ['anthropic/claude-*'],
  install: 'npm install other',
  ...more,
});
const config: Pick<FileConfig, 'agents' | 'providers'> = {
  agents: { other: entry(), last: entry({ models: ['*'], wire: 'openai-chat' }) },
  providers: {
    anthropic: { baseUrl: 'https://a/v1', wires: ['anthropic'], key: 'required' },
    local: { baseUrl: 'http://l/v1', wires: ['openai-chat', 'openai-responses'], key: 'none' },
  },
};
const NONE = { agents: {}, providers: config.providers };
const started = (agent: string, modelId: string, asks = false) =>
  turnAgent(config, { agent, modelId, token: 'tok', asks });

describe('which agent speaks for a model', () => {
  test.each([
    ['scripted', 'scripted'],
    ['anthropic/claude-x', 'other'],
    ['anthropic/other', 'last'],
    ['local/a/b', 'last'],
  ])('%s: %s', (modelId, agent) => {
    expect(agentOf(config, modelId)).toBe(agent);
  });

  test('without an entry that fits, the built-in one', () => {
    expect(agentOf(NONE, 'anthropic/claude-x')).toBe('headrace');
  });
});

test('a model may hold slashes of its own', () => {
  expect([modelOf('local/a/b'), modelOf('scripted')]).toEqual([
    { provider: 'local', model: 'a/b' },
    { provider: 'scripted', model: '' },
  ]);
});

describe('how an agent is started', () => {
  test('placeholders are filled in command, env and home; unknown ones stay', () => {
    expect(started('other', 'anthropic/claude-x')).toEqual({
      name: 'other',
      command: ['other', '--model', 'claude-x'],
      folder: '/srv/agents/other',
      env: { BASE: 'http://127.0.0.1:4401/anthropic/v1', KEY: 'tok', SAME: '{unknown}' },
      home: { 'a.json': '"anthropic/claude-x"' },
      instructionsFile: '.other/NOTES.md',
      skillsFolder: null,
      mode: 'yolo',
      install: 'npm install other',
    });
  });
  test('where rules have to be asked, in the mode that asks', () => {
    expect(started('other', 'anthropic/claude-x', true)).toMatchObject({ mode: 'careful' });
  });
  test('the built-in one speaks the first wire of its provider', () => {
    const env = {
      HEADRACE_WIRE: 'openai-chat',
      HEADRACE_MODEL: 'a/b',
      HEADRACE_GATEWAY: 'http://127.0.0.1:4401/local/v1',
      HEADRACE_TOKEN: 'tok',
    };
    expect(started('headrace', 'local/a/b')).toMatchObject({ name: 'headrace', command: null, env });
    const small = { ...config, providers: { local: { ...config.providers['local']!, contextTokens: 8000 } } };
    expect(
      turnAgent(small, { agent: 'headrace', modelId: 'local/a/b', token: 'tok', asks: false }),
    ).toMatchObject({ env: { ...env, HEADRACE_CONTEXT_TOKENS: '8000' } });
  });
  test('one that asks nobody is kept from rules that have to be asked', () => {
    const rash = { ...config, agents: { other: entry({ asks: false }) } };
    const start = (asks: boolean) =>
      turnAgent(rash, { agent: 'other', modelId: 'anthropic/claude-x', token: '', asks });
    expect([start(false), start(true)]).toMatchObject([
      { name: 'other' },
      { missing: expect.stringMatching(/other asks nobody/) },
    ]);
  });
  test('the scripted one is told nothing', () => {
    expect(started('scripted', 'scripted')).toMatchObject({ name: 'scripted', command: null, env: {} });
  });

  test.each([
    ['headrace', 'nobody/x', /No provider of the model nobody\/x is configured.*anthropic, local/],
    ['headrace', 'anthropic', /No provider/],
    ['headrace', 'constructor/x', /No provider/],
    ['gone', 'local/x', /no longer configured/],
    ['other', 'local/x', /speaks anthropic, which the provider local does not/],
  ])('%s with %s: what is missing', (agent, modelId, message) => {
    expect(started(agent, modelId)).toEqual({ missing: expect.stringMatching(message) as string });
  });
});
