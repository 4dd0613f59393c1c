import { expect, test } from 'vitest';
import { samePage } from './same-page.ts';

test.each([
  ['/apps?query=x', '/apps?query=x'],
  ['/console/apps', '/apps'],
  ['/console', '/'],
  [undefined, '/'],
  ['', '/'],
  ['//evil.example/', '/'],
  [String.raw`/\evil.example`, '/'],
  [String.raw`/a\b`, '/'],
  ['https://evil.example/', '/'],
  ['javascript:alert(1)', '/'],
  ['/\t/evil.example', '/'],
  ['/consolefoo', '/consolefoo'],
])('after the sign-in, %j leads to %s', (to, page) => {
  expect(samePage(to)).toBe(page);
});
