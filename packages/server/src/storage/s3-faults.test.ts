/** What a bucket is used through: slow, broken and hostile ways, and rights that are missing. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import S3rver from 's3rver';
import { startFaultProxy, type Fault, type FaultProxy } from './fault-proxy.fixture.ts';
import { StorageRefusesError, StorageUnavailableError, type ObjectStore } from './object-store.ts';
import { S3_LIMITS } from './s3-attempts.ts';
import { createS3Store } from './s3-store.ts';

/** A stall is one after a second. */
const LIMITS = { ...S3_LIMITS, idleMs: 1_000, attemptMs: 5_000, pauseMs: 10 };
const BYTES = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i) % 251));

const storeAt = (endpoint: string, limits = LIMITS) =>
  createS3Store(
    {
      bucket: 'objects',
      region: 'us-east-1',
      endpoint,
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
      forcePathStyle: true,
    },
    limits,
  );

let folder: string;
let server: S3rver;
let direct: ObjectStore;
let proxy: FaultProxy;
let store: ObjectStore;
/** Of the next exchanges, in their order. */
let faults: (Fault | null)[] = [];
/** The first lines of all requests. */
let lines: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-s3rver-'));
  server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'objects', configs: [] }],
  });
  const endpoint = `http://127.0.0.1:${(await server.run()).port}`;
  direct = await storeAt(endpoint);
  proxy = await startFaultProxy(endpoint, (head) => {
    lines.push(head.split('\r\n')[0]!);
    return faults.shift() ?? null;
  });
  store = await storeAt(proxy.endpoint);
  await direct.put('there', BYTES);
});
afterAll(async () => {
  for (const one of [store, direct]) one?.close();
  await proxy?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs with these faults; returns the first lines of the requests. */
async function under(next: (Fault | null)[], work: () => Promise<unknown>): Promise<string[]> {
  [faults, lines] = [[...next], []];
  await work();
  expect(faults).toEqual([]);
  return lines;
}

const SLOW: Fault = { kind: 'slow-down' };
/** As often as a request is tried. */
const always = (fault: Fault) => Array.from({ length: LIMITS.attempts }, () => fault);
const ONCE: [string, Fault][] = [
  ['SlowDown', SLOW],
  ['a reset before the answer', { kind: 'reset', side: 'request', after: 100 }],
  ['a reset within the request', { kind: 'reset', side: 'request', after: 1_500 }],
  ['a reset within the answer', { kind: 'reset', side: 'response', after: 50 }],
  ['a cut answer', { kind: 'cut', after: 50 }],
  ['a stalled request', { kind: 'stall', side: 'request', after: 100 }],
  ['a stalled answer', { kind: 'stall', side: 'response', after: 20 }],
];

describe.each(ONCE)('%s', (_name, fault) => {
  const isOfBody = 'after' in fault && fault.after === 1_500;

  test('is got over by a put', async () => {
    expect((await under([fault], () => store.put('put', BYTES))).length).toBe(2);
    expect((await direct.get('put')).equals(BYTES)).toBe(true);
    await direct.delete('put');
  });

  test.skipIf(isOfBody)('is got over by reads, a listing and a deletion', async () => {
    await under([fault], async () => expect((await store.get('there')).equals(BYTES)).toBe(true));
    await under([fault], async () =>
      expect((await store.getRange('there', 7, 70_000)).equals(BYTES.subarray(7, 70_000))).toBe(true),
    );
    await under([fault], async () =>
      expect((await buffer(await store.getStream('there'))).equals(BYTES)).toBe(true),
    );
    await under([fault], async () => expect((await store.head('there'))?.byteSize).toBe(BYTES.length));
    await under([fault], async () =>
      expect((await Array.fromAsync(store.list('there'))).map((o) => o.key)).toEqual(['there']),
    );
    await direct.put('gone', BYTES);
    await under([fault], () => store.delete('gone'));
    expect(await direct.head('gone')).toBeNull();
  });
});

describe('an answer', () => {
  test.each<Fault>([
    { kind: 'cut', after: 150_000 },
    { kind: 'reset', side: 'response', after: 150_000 },
    { kind: 'stall', side: 'response', after: 150_000 },
    { kind: 'garble', after: 150_000 },
  ])('that breaks within the body is read again, whole: %j', async (fault) => {
    const requests = await under([fault, fault], async () =>
      expect((await store.get('there')).equals(BYTES)).toBe(true),
    );
    expect(requests.length).toBe(3);
  });

  test.each<Fault>([
    { kind: 'cut', after: 150_000 },
    { kind: 'reset', side: 'response', after: 150_000 },
    { kind: 'stall', side: 'response', after: 150_000 },
  ])('whose body is a stream goes on from where it broke: %j', async (fault) => {
    const before = proxy.counts[fault.kind];
    const requests = await under([fault, SLOW], async () =>
      expect((await buffer(await store.getStream('there'))).equals(BYTES)).toBe(true),
    );
    expect([requests.length, proxy.counts[fault.kind] - before]).toEqual([3, 1]);
  });

  test.each([1_000, 150_000, BYTES.length])('with another byte near %d is no whole stream', async (after) => {
    let length = 0;
    await under([{ kind: 'garble', after }], async () => {
      const stream = await store.getStream('there');
      stream.on('data', (chunk: Buffer) => (length += chunk.length));
      await expect(once(stream, 'end')).rejects.toThrow(StorageUnavailableError);
    });
    expect(length).toBeLessThan(BYTES.length);
  });

  test('that nobody reads for longer than a stall goes on when it is read', async () => {
    const stream = await store.getStream('there');
    const sockets = proxy.sockets();
    // The connection is given up.
    await expect.poll(() => proxy.sockets(), { timeout: 10_000 }).toBeLessThan(sockets);
    expect((await buffer(stream)).equals(BYTES)).toBe(true);
  });

  test('that nobody wants is ended', async () => {
    const stream = await store.getStream('there');
    const sockets = proxy.sockets();
    stream.destroy();
    await expect.poll(() => proxy.sockets(), { timeout: 500, interval: 10 }).toBeLessThan(sockets);
  });

  test('that never is the right one is given up', async () => {
    const garbled: Fault = { kind: 'garble', after: 150_000 };
    await under(always(garbled), () => expect(store.get('there')).rejects.toThrow(StorageUnavailableError));
  });
});

test('a service that stays away costs a bounded number of attempts', async () => {
  const requests = await under(always({ kind: 'reset', side: 'request', after: 0 }), () =>
    expect(store.put('away', BYTES)).rejects.toThrow(StorageUnavailableError),
  );
  expect([requests.length, await direct.head('away')]).toEqual([LIMITS.attempts, null]);
});

test('no attempt begins after the window', async () => {
  const impatient = await storeAt(proxy.endpoint, { ...LIMITS, windowMs: 0 });
  try {
    const requests = await under([SLOW], () =>
      expect(impatient.get('there')).rejects.toThrow(StorageUnavailableError),
    );
    expect(requests.length).toBe(1);
  } finally {
    impatient.close();
  }
});

test('closing ends the attempts', async () => {
  const closing = await storeAt(proxy.endpoint);
  faults = always(SLOW);
  const got = closing.get('there');
  closing.close();
  await expect(got).rejects.toThrow(StorageUnavailableError);
  expect(faults.length).toBeGreaterThanOrEqual(LIMITS.attempts - 2);
  faults = [];
});

/** A service in front of the real one that reads headers and refuses what `isRefused` says. */
async function gate(isRefused: (method: string, path: string) => string | null) {
  const seen: { method: string; headers: NodeJS.Dict<string | string[]> }[] = [];
  const { endpoint } = proxy;
  const front = createServer((incoming, answer) => {
    seen.push({ method: incoming.method!, headers: incoming.headers });
    const code = isRefused(incoming.method!, incoming.url!);
    if (code !== null) {
      incoming.resume();
      answer.writeHead(403, { 'content-type': 'application/xml' });
      answer.end(incoming.method === 'HEAD' ? '' : `<Error><Code>${code}</Code></Error>`);
      return;
    }
    incoming.pipe(
      request(
        `${endpoint}${incoming.url}`,
        { method: incoming.method, headers: incoming.headers, agent: false },
        (response) => {
          answer.writeHead(response.statusCode!, response.headers);
          response.pipe(answer);
        },
      ).on('error', () => answer.destroy()),
    );
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  // No fault is injected: nothing is taken for a stall.
  const gated = await storeAt(`http://127.0.0.1:${(front.address() as AddressInfo).port}`, {
    ...S3_LIMITS,
    pauseMs: 10,
  });
  return {
    seen,
    gated,
    end: async () => {
      gated.close();
      front.closeAllConnections();
      await new Promise((resolve) => {
        front.close(resolve);
      });
    },
  };
}

test('a put names its MD5, no other checksum, no condition and no parts', async () => {
  const { seen, gated, end } = await gate(() => null);
  try {
    await gated.put('named', Buffer.alloc(9 * 1024 ** 2, 'x'));
    const headers = seen[0]!.headers;
    expect([seen.length, seen[0]!.method]).toEqual([1, 'PUT']);
    expect(headers['content-md5']).toBe(
      createHash('md5')
        .update(Buffer.alloc(9 * 1024 ** 2, 'x'))
        .digest('base64'),
    );
    expect(
      Object.keys(headers).filter((name) => /checksum|trailer|^if-|^expect$|transfer-encoding/.test(name)),
    ).toEqual([]);
  } finally {
    await end();
  }
});

describe('a probe', () => {
  const isList = (path: string) => path.includes('list-type');

  test.each<[string, (method: string, path: string) => boolean, string]>([
    ['only reads', (method) => method === 'PUT' || method === 'DELETE', 's3:PutObject and s3:DeleteObject'],
    ['deletes nothing', (method) => method === 'DELETE', 's3:DeleteObject'],
    ['lists nothing', (_method, path) => isList(path), 's3:ListBucket'],
    ['reads nothing', (method, path) => method === 'GET' && !isList(path), 's3:GetObject'],
    ['allows nothing', () => true, 's3:PutObject, s3:ListBucket, and s3:DeleteObject'],
  ])('of a bucket that %s says what to grant', async (_name, isRefused, rights) => {
    const { gated, end } = await gate((...how) => (isRefused(...how) ? 'AccessDenied' : null));
    try {
      const found = await gated.probe().catch((error: unknown) => error);
      expect(found).toBeInstanceOf(StorageRefusesError);
      expect((found as Error).message).toBe(`The bucket refuses requests: grant ${rights}.`);
    } finally {
      await end();
    }
  });

  test.each([
    ['InvalidAccessKeyId', /does not know the access key/],
    ['SignatureDoesNotMatch', /secret of the access key is wrong/],
  ])('with wrong credentials says so: %s', async (code, message) => {
    const { gated, end } = await gate(() => code);
    try {
      await expect(gated.probe()).rejects.toThrow(message);
    } finally {
      await end();
    }
  });

  test('costs four requests, and none for half a minute after a success', async () => {
    const left = (await Array.fromAsync(direct.list('probe/'))).length;
    const requests = await under([], async () => {
      await Promise.all(Array.from({ length: 20 }, () => store.probe()));
      await store.probe();
    });
    expect(requests.map((line) => line.split(' ')[0])).toEqual(['PUT', 'GET', 'GET', 'DELETE']);
    expect((await Array.fromAsync(direct.list('probe/'))).length).toBe(left);
    // A request that failed is a reason to look again.
    await under(always({ kind: 'cut', after: 0 }), () =>
      expect(store.get('there')).rejects.toThrow(StorageUnavailableError),
    );
    expect((await under([], () => store.probe())).length).toBe(4);
  });

  test('leaves no object in a listing of all', async () => {
    await direct.put('probe/left', BYTES);
    const keys = (await Array.fromAsync(direct.list(''))).map(({ key }) => key);
    expect(keys).toContain('there');
    expect(keys.filter((key) => key.startsWith('probe/'))).toEqual([]);
    await direct.sweep();
    // Younger than an hour.
    expect(await direct.head('probe/left')).not.toBeNull();
    await direct.delete('probe/left');
  });

  test('of a bucket that is not there says so', async () => {
    const nowhere = await createS3Store(
      {
        bucket: 'nowhere',
        region: 'us-east-1',
        endpoint: proxy.endpoint,
        credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
        forcePathStyle: true,
      },
      LIMITS,
    );
    try {
      await expect(nowhere.probe()).rejects.toThrow('there is no such bucket');
    } finally {
      nowhere.close();
    }
  });
});
