import { describe, expect, test } from 'vitest';
import { matches } from '../patterns.ts';
import { rememberedKey } from './decide.ts';
import { commandOf, ruleFor } from './rules.ts';
import type { Rules } from './rules.ts';

describe('matches', () => {
  test.each([
    ['npm test', 'npm test', true],
    ['npm test', 'npm test ', false],
    ['npm test', 'npm', false],
    ['', '', true],
    ['', 'x', false],
    ['*', '', true],
    ['*', 'a\nb', true],
    ['**', 'x', true],
    ['npm *', 'npm test', true],
    ['npm *', 'npm ', true],
    ['npm *', 'xnpm test', false],
    ['* test', 'npm test', true],
    ['* test', 'npm testing', false],
    ['rm *-rf* /*', 'rm -rf /etc', true],
    ['rm *-rf* /*', 'rm -r /etc', false],
    // A part is not counted twice: head and tail may not overlap, nor the middle with the tail.
    ['aba*ba', 'aba', false],
    ['aba*ba', 'ababa', true],
    ['a*b*b', 'ab', false],
    ['a*b*b', 'abb', true],
    // No other character is special.
    ['n.m', 'npm', false],
    ['n.m', 'n.m', true],
    ['[ab]', 'a', false],
    ['a?', 'ab', false],
    ['^a$', 'a', false],
    ['(a|b)*', '(a|b)c', true],
    ['\\*', '\\x', true],
    ['NPM *', 'npm test', false],
    ['ä*', 'äb', true],
  ])('%j and %j: %s', (pattern, command, expected) => {
    expect(matches(pattern, command)).toBe(expected);
  });

  test('takes linear time, whatever the pattern', () => {
    const at = Date.now();
    expect(matches(`${'a*'.repeat(200)}b`, 'a'.repeat(200_000))).toBe(false);
    expect(Date.now() - at).toBeLessThan(1_000);
  });
});

describe('ruleFor', () => {
  const rules: Rules = [
    { tool: 'sh', pattern: 'npm *', decision: 'allow' },
    { tool: 'sh', pattern: '*rm*', decision: 'deny' },
    { tool: 'sh', decision: 'ask' },
    { tool: 'edit', decision: 'deny' },
  ];
  test.each([
    ['sh', 'npm rm x', 'allow'],
    ['sh', 'rm x', 'deny'],
    ['sh', 'ls', 'ask'],
    ['edit', 'anything', 'deny'],
    ['other', 'rm', 'allow'],
  ])('%s %j: %s', (tool, command, decision) => {
    expect(ruleFor(rules, tool, command)).toBe(decision);
  });
  test('what nobody knows is not allowed by a pattern, and asked about or denied by one', () => {
    expect(ruleFor(rules, 'sh', null)).toBe('deny');
    expect(
      ruleFor(
        rules.filter((rule) => rule.decision === 'allow'),
        'sh',
        null,
      ),
    ).toBe('allow');
    expect(ruleFor([{ tool: 'sh', pattern: '*', decision: 'ask' }], 'sh', null)).toBe('ask');
  });
  test('without a rule a call is allowed', () => {
    expect(ruleFor([], 'sh', 'rm -rf /')).toBe('allow');
  });
});

describe('commandOf', () => {
  test.each([
    [{ command: 'ls\n' }, 'ls'],
    [{ command: 'ls\n\n' }, 'ls\n'],
    [{ command: 'ls' }, 'ls'],
    [{ command: 5 }, ''],
    [null, ''],
    ['ls', ''],
    [{}, ''],
    [{ truncated: '{"command":"ls' }, null],
  ])('%j: %j', (input, command) => {
    expect(commandOf(input)).toBe(command);
  });
});

test('a long command is remembered by its digest, which no short one equals', () => {
  const long = 'x'.repeat(10_000);
  expect(rememberedKey('ls')).toBe('ls');
  expect(rememberedKey(long)).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(rememberedKey(long)).not.toBe(rememberedKey(`${long}y`));
});
