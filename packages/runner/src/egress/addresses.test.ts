import { expect, test } from 'vitest';
import { isPrivateAddress, isPrivateHost, publicLookup } from './addresses.ts';

const PRIVATE = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::7f00:1',
  '64:ff9b::a00:1',
  '2002:7f00:1::',
  '2001:0:1::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'ff02::1',
  '2001:db8::1',
];
const PUBLIC = [
  '8.8.8.8',
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '11.0.0.1',
  '192.169.0.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001::1',
];

test('an address of the open internet is one that is in no list', () => {
  expect([...PRIVATE, ...PUBLIC].filter(isPrivateAddress)).toEqual(PRIVATE);
});

test("a URL's host, in whatever way an address is written", () => {
  const host = (url: string) => new URL(url).hostname;
  const wrong = [
    'http://localhost',
    'http://LOCALHOST.:80',
    'http://a.localhost',
    'http://printer.local',
    'http://metadata.google.internal',
    'http://metadata',
    'http://127.1',
    'http://2130706433',
    'http://0x7f.0.0.1',
    'http://0177.0.0.1',
    'http://[::1]',
    'http://[::ffff:10.0.0.1]',
    'http://①②⑦.0.0.1',
    'http://169.254.169.254.',
  ];
  const right = [
    'http://mcp.example.com',
    'http://localhost.example.com',
    'http://8.8.8.8',
    'http://[2606:4700::1111]',
    'http://internal.example',
  ];
  expect([...wrong, ...right].filter((url) => isPrivateHost(host(url)))).toEqual(wrong);
});

/** The result of a look-up for a name that resolves to `addresses`. */
function found(addresses: string[], all: boolean): Promise<unknown> {
  const lookup = publicLookup((_name, _options, callback) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  });
  return new Promise((resolve) => {
    lookup('name.example', { all }, (error, address, family) => {
      resolve(error ? error.code : [address, family]);
    });
  });
}

test('a name connects to its addresses of the open internet only', async () => {
  expect(await found(['8.8.8.8', '2606:4700::1111'], true)).toEqual([
    [
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ],
    undefined,
  ]);
  expect(await found(['127.0.0.1', '8.8.8.8', 'fe80::1'], true)).toEqual([
    [{ address: '8.8.8.8', family: 4 }],
    undefined,
  ]);
  expect(await found(['10.0.0.1', '2606:4700::1111'], false)).toEqual(['2606:4700::1111', 6]);
  for (const all of [true, false])
    for (const none of [['127.0.0.1'], ['169.254.169.254', '::1'], []])
      expect(await found(none, all)).toBe('PRIVATE_ADDRESS');
});
