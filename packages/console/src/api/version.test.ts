import { expect, test } from 'vitest';
import { addressIn } from './version.ts';

test.each([
  [
    'Failed to fetch dynamically imported module: https://a.test/console/assets/x-1a.js',
    'https://a.test/console/assets/x-1a.js',
  ],
  ['error loading dynamically imported module: http://a.test/x.js', 'http://a.test/x.js'],
  ['Unable to preload CSS for /console/assets/x-1a.css', '/console/assets/x-1a.css'],
  ['Importing a module script failed.', null],
])('%s', (message, address) => {
  expect(addressIn(message)).toBe(address);
});
