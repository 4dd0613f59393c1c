import { describe, expect, test } from 'vitest';
import { AckRequest } from '../protocol.ts';
import { check, checkTaskRequest } from './validate.ts';

const agent = { name: 'a', command: null, folder: null, env: {}, home: {}, mode: null, install: null };
const requests = {
  turn: { kind: 'turn', workspaceId: 'thr_1', agent, prompt: '', permissions: 'ask', timeoutMs: 1 },
  exec: { kind: 'exec', workspaceId: 'thr_1', command: 'true', timeoutMs: 86_400_000 },
  build: { kind: 'build', command: 'true', outputDirectory: '.', timeoutMs: 0.5 },
  preview: { kind: 'preview', command: 'true', port: 1, timeoutMs: 1 },
  setup: { kind: 'setup', command: 'true', group: 'prj_1', timeoutMs: 1 },
};
const refusal = (body: unknown): string => {
  try {
    checkTaskRequest(body);
  } catch (error) {
    const { status, code, message } = error as { status: number; code: string; message: string };
    return `${status} ${code} ${message}`;
  }
  return 'accepted';
};
const refused = (message: string): string => `400 invalid_request ${message}`;

describe('a task request', () => {
  test.each(Object.values(requests))('of kind $kind is accepted, with unknown members', (request) => {
    const body = { ...request, more: 1 };
    expect(checkTaskRequest(body)).toBe(body);
  });

  test.each([null, 1, [], {}, { kind: 'toString' }, { kind: 5 }])('of no kind is refused: %j', (body) => {
    expect(refusal(body)).toBe(refused('kind is none of turn, exec, build, preview, setup.'));
  });

  const { turn, exec, preview, setup } = requests;
  test.each([
    [{ ...exec, timeoutMs: 0 }, 'timeoutMs must be > 0.'],
    [{ ...exec, timeoutMs: 86_400_001 }, 'timeoutMs must be <= 86400000.'],
    [{ ...exec, timeoutMs: '1' }, 'timeoutMs must be number.'],
    [{ ...exec, command: undefined }, 'The body must have required properties command.'],
    [{ ...exec, egress: ['a', 1] }, 'egress.1 must be string.'],
    [{ ...preview, port: null }, 'port must be number.'],
    [{ ...setup, group: 'a/b' }, 'group must match pattern "^[\\w-]{1,100}$".'],
    [{ ...turn, agent: null }, 'agent must be object.'],
    [{ ...turn, agent: { ...agent, env: { A: 1 } } }, 'agent.env.A must be string.'],
    [
      { ...turn, evidence: [{ path: 'a', content: 'a', encoding: 'hex' }] },
      'evidence.0.encoding must be equal to one of the allowed values.',
    ],
  ])('with a fault names its member: %j', (body, message) => {
    expect(refusal(JSON.parse(JSON.stringify(body)))).toBe(refused(message));
  });

  test.each(['A', '', '../a', `a${'b'.repeat(64)}`])('names its agent as a folder may be: %s', (name) => {
    expect(refusal({ ...turn, agent: { ...agent, name } })).toMatch(
      /^400 invalid_request agent\.name must match/,
    );
  });
});

test('a body that is no object is refused', () => {
  expect(() => check(AckRequest, null)).toThrow('The body must be object.');
});
