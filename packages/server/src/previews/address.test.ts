import { expect, test } from 'vitest';
import { addressOf, sourceOfAll, tokenReader } from './address.ts';

const TOKEN = '0123456789abcdefghjkmnpqrs';
const at = (previewUrl: string | null, previewDomain = 'localhost') => {
  const config = { previewUrl, previewDomain } as Parameters<typeof addressOf>[0]['config'];
  return {
    address: addressOf({ config, listening: { port: 4400 } }, TOKEN),
    source: sourceOfAll({ config, listening: { port: 4400 } }),
    tokenIn: tokenReader(config),
  };
};

test.each([
  [null, 'localhost', `http://${TOKEN}.localhost:4400/`],
  [null, 'Previews.Example', `http://${TOKEN}.previews.example:4400/`],
  ['https://*.example.com', 'localhost', `https://${TOKEN}.example.com/`],
  ['HTTPS://*.Example.com:443/', 'localhost', `https://${TOKEN}.example.com/`],
  ['http://app.*.example.com:8080', 'localhost', `http://app.${TOKEN}.example.com:8080/`],
])('%s, %s: an address is recognized as it is made', (url, domain, address) => {
  const previews = at(url, domain);
  expect(previews.address).toBe(address);
  const { hostname } = new URL(address);
  for (const host of [hostname, hostname.toUpperCase(), `${hostname}:4400`, `${hostname}:`])
    expect(previews.tokenIn(host), host).toBe(TOKEN);
});

test('other hosts have no token', () => {
  const { tokenIn } = at('https://a.*.example.com');
  for (const host of [
    undefined,
    '',
    'a.example.com',
    'a..example.com',
    `a.${TOKEN}`,
    `${TOKEN}.example.com`,
    `a.${TOKEN}.example.org`,
    `a.${TOKEN}x.example.com`,
    `a.x.${TOKEN}.example.com`,
    `a.${TOKEN}.example.com.evil`,
    `a.${TOKEN}.localhost`,
  ])
    expect(tokenIn(host), host).toBeUndefined();
});

test.each([
  [null, 'localhost', 'http://*.localhost:4400'],
  [null, 'Previews.Example', 'http://*.previews.example:4400'],
  ['https://*.example.com', 'localhost', 'https://*.example.com'],
  ['https://app.*.example.com:8443', 'localhost', 'https://*.example.com:8443'],
  ['https://previews.*', 'localhost', 'https://*'],
])('%s, %s: a policy that names the addresses of all previews', (url, domain, source) => {
  expect(at(url, domain).source).toBe(source);
});
