/** One suite for both stores: what the interface promises. */
import { mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import S3rver from 's3rver';
import { createLocalStore, openLocalStore } from './local-store.ts';
import { ObjectNotFoundError, StorageUnavailableError, type ObjectStore } from './object-store.ts';
import { S3_LIMITS } from './s3-attempts.ts';
import { createS3Store } from './s3-store.ts';

interface Subject {
  store: ObjectStore;
  end: () => Promise<void>;
}

async function local(): Promise<Subject> {
  const root = await mkdtemp(join(tmpdir(), 'headrace-objects-'));
  return { store: await createLocalStore(root), end: () => rm(root, { recursive: true, force: true }) };
}

async function s3(): Promise<Subject> {
  const directory = await mkdtemp(join(tmpdir(), 'headrace-s3rver-'));
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: 'objects', configs: [] }],
  });
  const { port } = await server.run();
  const store = await createS3Store({
    bucket: 'objects',
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    forcePathStyle: true,
  });
  return {
    store,
    end: async () => {
      store.close();
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const keysOf = async (store: ObjectStore, prefix: string) =>
  (await Array.fromAsync(store.list(prefix))).map((o) => o.key).sort();

describe.each([
  ['a folder', local],
  ['S3', s3],
])('%s', (_name, make) => {
  let subject: Subject;
  let store: ObjectStore;
  beforeAll(async () => {
    subject = await make();
    store = subject.store;
  });
  afterAll(() => subject.end());

  test('gives back what was put, whole, by stream and by range', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i) % 256));
    await store.put('round/trip.bin', bytes);
    expect((await store.get('round/trip.bin')).equals(bytes)).toBe(true);
    expect((await buffer(await store.getStream('round/trip.bin'))).equals(bytes)).toBe(true);
    for (const [start, end] of [
      [0, 300_000],
      [5, 5],
      [5, 6],
      [100, 70_000],
      [299_999, 300_000],
      [299_990, 400_000],
      [300_000, 300_010],
    ] as const) {
      expect(
        (await store.getRange('round/trip.bin', start, end)).equals(bytes.subarray(start, end)),
        `${start}-${end}`,
      ).toBe(true);
    }
    expect(await store.head('round/trip.bin')).toMatchObject({ key: 'round/trip.bin', byteSize: 300_000 });
  });

  test('takes a stream, and an empty object', async () => {
    await store.put('stream', Readable.from([Buffer.from('one '), Buffer.alloc(0), Buffer.from('two')]));
    await store.put('empty', Buffer.alloc(0));
    expect([(await store.get('stream')).toString(), (await store.get('empty')).length]).toEqual([
      'one two',
      0,
    ]);
  });

  test('a stream that nobody reads ends no process', async () => {
    await store.put('unread', Buffer.from('unread'));
    await store.getStream('unread');
    const faults: unknown[] = [];
    const note = (error: unknown) => faults.push(error);
    process.on('uncaughtException', note);
    for (let i = 0; i < 5; i++) {
      collect();
      await setImmediate();
    }
    process.off('uncaughtException', note);
    expect(faults).toEqual([]);
  });

  test('a stream that fails leaves no object', async () => {
    const failing = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('the upload broke');
      })(),
    );
    await expect(store.put('failed/upload', failing)).rejects.toThrow('the upload broke');
    expect([await store.head('failed/upload'), await keysOf(store, 'failed')]).toEqual([null, []]);
  });

  test('put again replaces', async () => {
    await store.put('again', Buffer.from('a long first'));
    await store.put('again', Buffer.from('second'));
    expect((await store.get('again')).toString()).toBe('second');
  });

  test('what is not there is not found, and deleting it is no fault', async () => {
    for (const read of [
      () => store.get('none/at/all'),
      () => store.getStream('none/at/all'),
      () => store.getRange('none/at/all', 0, 1),
    ])
      await expect(read()).rejects.toThrow(ObjectNotFoundError);
    expect(await store.head('none/at/all')).toBeNull();
    await store.delete('none/at/all');
    await store.put('gone', Buffer.from('x'));
    await store.delete('gone');
    await expect(store.get('gone')).rejects.toThrow(ObjectNotFoundError);
  });

  test('lists by literal prefix', async () => {
    for (const key of ['list/a/1', 'list/a/2', 'list/ab', 'list/b/c/d'])
      await store.put(key, Buffer.from(key));
    expect(await keysOf(store, 'list/')).toEqual(['list/a/1', 'list/a/2', 'list/ab', 'list/b/c/d']);
    expect([
      await keysOf(store, 'list/a'),
      await keysOf(store, 'list/a/'),
      await keysOf(store, 'list/c'),
      await keysOf(store, 'nothing/'),
    ]).toEqual([['list/a/1', 'list/a/2', 'list/ab'], ['list/a/1', 'list/a/2'], [], []]);
    for (const key of await keysOf(store, 'list/')) await store.delete(key);
    expect(await keysOf(store, 'list/')).toEqual([]);
  });

  test('writers beside deleters in one folder lose nothing', async () => {
    const one = async (i: number) => {
      await store.put(`busy/folder/${i}`, Buffer.from('x'));
      if (i % 2) await store.delete(`busy/folder/${i}`);
    };
    await Promise.all(Array.from({ length: 40 }, (_, i) => one(i)));
    expect((await keysOf(store, 'busy/')).length).toBe(20);
  });

  test.each([
    '',
    '/',
    '../up',
    'a/../b',
    '/abs',
    'a//b',
    'a/',
    '.hidden',
    'a/.b',
    'a\\b',
    'a\0',
    'ü',
    'a b',
    'x'.repeat(513),
  ])('the key %j is refused', async (key) => {
    await expect(store.put(key, Buffer.from('x'))).rejects.toThrow(TypeError);
    await expect(store.get(key)).rejects.toThrow(TypeError);
    await expect(store.delete(key)).rejects.toThrow(TypeError);
  });

  test('is probed', async () => {
    await store.probe();
    await expect(Array.fromAsync(store.list('../'))).rejects.toThrow(TypeError);
  });
});

test('a folder that went away is unavailable and is not made again', async () => {
  const root = await mkdtemp(join(tmpdir(), 'headrace-objects-'));
  const store = await createLocalStore(join(root, 'objects'));
  await rename(join(root, 'objects'), join(root, 'elsewhere'));
  await expect(store.probe()).rejects.toThrow(StorageUnavailableError);
  await expect(store.put('a/b', Buffer.from('x'))).rejects.toThrow(StorageUnavailableError);
  for (const use of [
    () => store.get('a'),
    () => store.head('a'),
    () => store.delete('a'),
    () => Array.fromAsync(store.list('')),
  ])
    await expect(use()).rejects.toThrow(StorageUnavailableError);
  await expect(openLocalStore(join(root, 'objects'))).rejects.toThrow(StorageUnavailableError);
  expect(await readdir(root)).toEqual(['elsewhere']);
  await rm(root, { recursive: true });
});

test('an empty folder is a volume that is away: nothing in it is told as missing or deleted', async () => {
  const root = await mkdtemp(join(tmpdir(), 'headrace-objects-'));
  const store = await createLocalStore(root);
  expect(await store.head('a')).toBeNull();
  await rm(join(root, '.staging'), { recursive: true });
  for (const use of [() => store.get('a'), () => store.head('a'), () => store.delete('a')])
    await expect(use()).rejects.toThrow(StorageUnavailableError);
  await rm(root, { recursive: true });
});

test('a bucket or service that is not there is unavailable', async () => {
  const subject = await s3();
  await subject.end();
  const store = await createS3Store(
    {
      bucket: 'objects',
      region: 'us-east-1',
      endpoint: 'http://127.0.0.1:1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      forcePathStyle: true,
    },
    { ...S3_LIMITS, pauseMs: 10 },
  );
  await expect(store.probe()).rejects.toThrow(StorageUnavailableError);
  await expect(store.get('a')).rejects.toThrow(StorageUnavailableError);
  store.close();
});

test('what interrupted puts left in a folder is swept after an hour, and nothing younger', async () => {
  const root = await mkdtemp(join(tmpdir(), 'headrace-objects-'));
  const store = await createLocalStore(root);
  await store.put('a/b', Buffer.from('x'));
  const [old, young] = [join(root, '.staging', 'old'), join(root, '.staging', 'young')];
  for (const file of [old, young]) await writeFile(file, 'half');
  await utimes(old, Date.now() / 1000 - 3_601, Date.now() / 1000 - 3_601);
  await store.sweep();
  expect([await readdir(join(root, '.staging')), await keysOf(store, '')]).toEqual([['young'], ['a/b']]);
  await rm(root, { recursive: true });
});
