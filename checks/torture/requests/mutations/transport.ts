/** What is no HTTP, or lies about its length: bytes that no client library would send. */
import type { Random } from '../../../harness/random.ts';
import { requestOf } from '../specimen.ts';
import type { Specimen } from '../specimen.ts';
import type { Request } from '../wire.ts';
import type { World } from '../world.ts';
import type { Broken, Mutation } from './mutation.ts';

const TOO_LARGE = 64 * 1024 * 1024 + 1;

const ofNoOperation = (raw: string, status: number[], code: string[], method = 'GET'): Broken => ({
  request: { method, target: '', headers: [], raw: Buffer.from(raw, 'latin1') },
  operation: null,
  status,
  code,
});
const headOf = ({ method, target, headers }: Request, host: string) =>
  `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`;
const lied = (
  specimen: Specimen,
  { calls }: World,
  more: string,
  body: string,
  status: number[],
  code: string[],
  halfClose = false,
): Broken => {
  const request = requestOf(specimen);
  return {
    request: {
      ...request,
      raw: Buffer.from(`${headOf(request, new URL(calls.base).host)}${more}\r\n${body}`),
      halfClose,
    },
    operation: specimen.operation,
    status,
    code,
  };
};

const jsonOf = ({ body }: Specimen) => JSON.stringify(body);
const takesBody = ({ body }: { body: unknown }) => body !== null;

function noHttp({ method, target, headers }: Request, random: Random): string {
  const credentials = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const line = `${method} ${target} HTTP/1.1\r\n`;
  return random.pick([
    `${line}host: a\r\n${credentials}no colon here\r\n\r\n`,
    `${line}host: a\r\n${credentials}na me: v\r\n\r\n`,
    `${line}host: a\r\n${credentials}n\0: v\r\n\r\n`,
    `${line}host: a\r\n${credentials}n: a\0b\r\n\r\n`,
    `${line}host: a\r\n${credentials}: v\r\n\r\n`,
    `FETCH ${target} HTTP/1.1\r\nhost: a\r\n\r\n`,
    `${method} ${target} HTTP/9.9\r\nhost: a\r\n\r\n`,
    `${method}\r\n\r\n`,
    `\0\0\0\0\r\n\r\n`,
    `\x16\x03\x01\x02\x00\x01\r\n\r\n`,
    `${method} /a b c HTTP/1.1\r\nhost: a\r\n\r\n`,
    `${method} ${target} HTTP/1.1\nhost a\n\n\n`,
    `${line}host: a\r\n${credentials}content-length: -1\r\n\r\n`,
    `${line}host: a\r\n${credentials}content-length: 1x\r\n\r\n`,
    `${line}host: a\r\n${credentials}content-length: 99999999999999999999999\r\n\r\n`,
    `${line}host: a\r\n${credentials}content-length: 1\r\ncontent-length: 2\r\n\r\n{}`,
    `${line}host: a\r\n${credentials}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n{}`,
    `${line}host: a\r\n${credentials}transfer-encoding: none\r\n\r\n`,
    `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    `${line}${credentials}\r\n`,
  ]);
}

export const TRANSPORT_MUTATIONS: Mutation[] = [
  {
    name: 'no HTTP',
    weight: 2,
    fits: () => true,
    apply: (specimen, random) =>
      ofNoOperation(
        noHttp(requestOf({ ...specimen, body: undefined }), random),
        [400, 401, 404],
        ['invalid_request', 'unauthorized', 'not_found'],
        specimen.operation.method,
      ),
  },
  {
    name: 'an Expect that nobody knows',
    weight: 0.3,
    fits: ({ method }) => method === 'GET',
    apply: (specimen, _, world) => ({
      ...lied(specimen, world, 'expect: the-unexpected\r\n', '', [400, 404], []),
      mayPass: true,
    }),
  },
  {
    name: 'told to be over 64 MiB',
    weight: 0.5,
    fits: takesBody,
    apply: (specimen, _, world) =>
      lied(specimen, world, `content-length: ${TOO_LARGE}\r\n`, '{', [413], ['request_too_large']),
  },
  {
    name: 'shorter than told',
    weight: 0.5,
    fits: takesBody,
    apply: (specimen, _, world) =>
      lied(
        specimen,
        world,
        `content-length: ${Buffer.byteLength(jsonOf(specimen)) + 10}\r\n`,
        jsonOf(specimen),
        [400],
        ['invalid_request'],
        true,
      ),
  },
  {
    name: 'longer than told',
    weight: 0.5,
    fits: takesBody,
    apply: (specimen, random, world) => {
      const json = jsonOf(specimen);
      return lied(
        specimen,
        world,
        `content-length: ${1 + random.below(Buffer.byteLength(json) - 1)}\r\n`,
        json,
        [400],
        ['invalid_request'],
      );
    },
  },
  {
    name: 'broken chunks',
    weight: 0.5,
    fits: takesBody,
    apply: (specimen, random, world) =>
      lied(
        specimen,
        world,
        'transfer-encoding: chunked\r\n',
        random.pick([
          'zz\r\n{}\r\n0\r\n\r\n',
          '-1\r\n\r\n',
          '2\r\n{}x\r\n0\r\n\r\n',
          '2;\0\r\n{}\r\n0\r\n\r\n',
          'ffffffffffffffffff\r\n{}',
        ]),
        [400],
        ['invalid_request'],
      ),
  },
  {
    name: 'body called gzip',
    weight: 0.5,
    fits: takesBody,
    apply: (specimen) => ({
      request: {
        ...requestOf(
          { ...specimen, headers: [['content-encoding', 'gzip']] },
          Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xde, 0xad, 0xbe, 0xef]),
        ),
      },
      operation: specimen.operation,
      status: [400, 415],
      code: ['invalid_request', 'unsupported_media_type'],
    }),
  },
];
