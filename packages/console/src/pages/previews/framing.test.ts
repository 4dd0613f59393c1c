import { describe, expect, test } from 'vitest';
import { addressOf, ancestorsOf, mayFrame } from './framing.ts';

describe('who may frame a preview', () => {
  test.each([
    ['http://127.0.0.1:4400', true],
    ['127.0.0.1:4400', true],
    ['http://127.0.0.1:*', true],
    ['http:', true],
    ['*', true],
    ['http://127.0.0.1', false],
    ['https://127.0.0.1:4400', false],
    ['http://127.0.0.1:4401', false],
    ['https:', false],
    ["'self'", false],
    ["'none'", false],
  ])('%s has http://127.0.0.1:4400: %s', (source, expected) => {
    expect(mayFrame([source], 'http://127.0.0.1:4400')).toBe(expected);
  });

  test.each([
    ['https://*.example.com', true],
    ['*.example.com', true],
    ['http://headrace.example.com', true],
    ['https://HEADRACE.example.com:443', true],
    ['https://example.com', false],
    ['https://*.headrace.example.com', false],
  ])('%s has https://headrace.example.com: %s', (source, expected) => {
    expect(mayFrame([source], 'https://headrace.example.com')).toBe(expected);
  });

  test('is what the app says, else its organization, else nothing', () => {
    const list = (...frameAncestors: string[]) => ({ preview: { frameAncestors } });
    expect(ancestorsOf(list(), list('https://a.test'))).toEqual([]);
    expect(ancestorsOf({ preview: null }, list('https://a.test'))).toEqual(['https://a.test']);
    expect(ancestorsOf({ preview: null }, undefined)).toBeNull();
  });
});

test('a path leads nowhere but into the preview', () => {
  const url = 'http://abc.localhost:4400/';
  expect(addressOf(url, '/a?b=c#d')).toBe('http://abc.localhost:4400/a?b=c#d');
  expect(addressOf(url, 'a')).toBe('http://abc.localhost:4400/a');
  expect(addressOf(url, '//evil.test/')).toBeNull();
  expect(addressOf(url, '/\\evil.test/')).toBeNull();
  expect(addressOf('javascript:alert(1)', '/')).toBeNull();
});
