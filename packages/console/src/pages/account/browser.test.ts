import { expect, test } from 'vitest';
import { browserOf } from './browser.ts';

const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0 Safari/537.36';

test.each([
  [CHROME, 'Chrome on Linux'],
  [`${CHROME} Edg/149.0`, 'Edge on Linux'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1', 'Safari on iPhone'],
  ['curl/8.5', 'curl/8.5'],
  [null, 'Unknown'],
])('%s is %s', (userAgent, said) => {
  expect(browserOf(userAgent)).toBe(said);
});
