/** `headrace doctor` on a host whose objects lie in S3: runs it as an operator does, against a real server. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import S3rver from 's3rver';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Finding } from './findings.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));
const LIMIT_MS = 60_000;

let folder: string;
let server: S3rver;
let endpoint: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headrace-doctor-test-'));
  server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: join(folder, 's3'),
    configureBuckets: [{ name: 'objects', configs: [] }],
  });
  endpoint = `http://127.0.0.1:${(await server.run()).port}`;
});
afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** What it finds of the storage, and how it ends. */
async function storageBy(bucket: string, key = 'S3RVER'): Promise<{ code: number; storage: Finding }> {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HEADRACE_DATA_DIR: join(folder, 'data'),
    HEADRACE_S3_ENDPOINT: endpoint,
    HEADRACE_S3_BUCKET: bucket,
    AWS_ACCESS_KEY_ID: key,
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  };
  const { code, stdout } = await new Promise<{ code: number; stdout: string }>((resolve) => {
    execFile(process.execPath, [MAIN, 'doctor', '--json'], { env, timeout: LIMIT_MS }, (error, out) =>
      resolve({ code: error ? Number(error.code) : 0, stdout: out }),
    );
  });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, storage: findings.find(({ name }) => name === 'storage')! };
}

test(
  'a bucket that takes, lists, gives and deletes objects is well',
  async () => {
    expect((await storageBy('objects')).storage).toEqual({
      name: 'storage',
      ok: true,
      detail: 'the bucket objects takes, lists, gives and deletes objects',
      warnings: [],
    });
  },
  LIMIT_MS,
);

test.each([
  ['a bucket that is not there', 'elsewhere', 'S3RVER', /there is no such bucket/],
  ['a key that is not known', 'objects', 'NOBODY', /does not know the access key/],
])(
  '%s is missing, and the command fails',
  async (_name, bucket, key, detail) => {
    const { code, storage } = await storageBy(bucket, key);
    expect([code, storage.ok, storage.detail]).toEqual([1, false, expect.stringMatching(detail)]);
  },
  LIMIT_MS,
);
