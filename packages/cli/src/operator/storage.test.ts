/** Runs the command as an operator or cron does, against a live service with sources, applies and a build. */
import { mkdtemp, rename, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { draftsOf } from '@headrace/server/applies/applies.fixture.ts';
import { newBench } from '@headrace/server/builds/builds.fixture.ts';
import type { StorageReport } from '@headrace/server/sources/verify/verify-storage.ts';
import { startTestServer } from '@headrace/server/service.fixture.ts';
import type { TestServer } from '@headrace/server/service.fixture.ts';
import { headraceOn } from './headrace.fixture.ts';

let server: TestServer;
let headrace: ReturnType<typeof headraceOn>;
let apps: ReturnType<typeof draftsOf>;
let first: string;
let second: string;
beforeAll(async () => {
  server = await startTestServer();
  headrace = headraceOn(server);
  apps = draftsOf(server);
  const draft = await apps.diverged(
    { 'a.txt': 'base\n', 'b.txt': 'b\n' },
    { 'b.txt': 'head\n' },
    { 'a.txt': 'draft\n' },
  );
  expect((await apps.finish(draft)).status).toBe('applied');
  first = draft.appId;
  second = (await apps.app({ 'c.txt': 'c\n' })).appId;
});
afterAll(() => server.close());

async function verify(...args: string[]): Promise<{ code: number; report: StorageReport }> {
  const { code, stdout, stderr } = await headrace(['storage', 'verify', '--json', ...args]);
  expect(stderr).toBe('');
  return { code, report: JSON.parse(stdout) as StorageReport };
}

describe('exit code 0', () => {
  test('sound: every project, source and pack was read', async () => {
    const { code, report } = await verify();
    expect([code, report]).toEqual([
      0,
      expect.objectContaining({ sound: true, projects: 2, sources: 5, damage: 0, findings: [], warnings: 0 }),
    ]);
    expect(report.packs).toBe(
      (await server.service.ctx.db.selectFrom('packs').select('id').execute()).length,
    );
  });

  test('one project, in lines for people', async () => {
    const { code, stdout } = await headrace(['storage', 'verify', '--project', second, '--concurrency', '2']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^1 projects, 1 sources, 1 packs, 1 contents, 0 artifacts\n.* MiB\/s\nEverything that is stored is sound\.\n$/,
      ),
    ]);
  });

  test('orphans are warnings', async () => {
    const key = `projects/${second}/forgotten`;
    await server.service.ctx.store.put(key, Buffer.from('12345'));
    const hoursAgo = Date.now() / 1000 - 7_200;
    await utimes(join(server.service.ctx.config.dataDir, 'objects', key), hoursAgo, hoursAgo);
    const { code, report } = await verify();
    expect([code, report.warnings, report.warningBytes, report.warningFindings]).toEqual([
      0,
      1,
      5,
      [
        {
          kind: 'object_orphaned',
          message: expect.any(String),
          projectId: second,
          objectKey: key,
          byteSize: 5,
        },
      ],
    ]);
    await server.service.ctx.store.delete(key);
  });

  test('help', async () => {
    expect(await headrace(['storage', 'verify', '--help'])).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('--concurrency N'),
    });
  });
});

describe('exit code 1', () => {
  test('damage: what is lost and who needs it, the other project still sound', async () => {
    const { db, store } = server.service.ctx;
    const { object_key: key } = await db
      .selectFrom('packs')
      .select('object_key')
      .where('project_id', '=', first)
      .orderBy('id')
      .executeTakeFirstOrThrow();
    const bytes = await store.get(key);
    await store.put(key, Buffer.from(bytes.map((b, i) => (i === bytes.length - 1 ? b ^ 1 : b))));
    const { code, report } = await verify();
    expect([code, report.sound, report.counts]).toEqual([1, false, { pack_damaged: 1, content_damaged: 2 }]);
    expect(report.findings.every((f) => f.projectId === first)).toBe(true);
    const head = (await apps.head(first)).sourceId;
    expect(report.findings.some((f) => f.sourceId === head)).toBe(false);
    const lines = await headrace(['storage', 'verify']);
    expect([lines.code, lines.stdout]).toEqual([
      1,
      expect.stringMatching(
        /damage {3}pack_damaged .*\n[^]*needed by src_\w+ "a.txt"\n[^]*3 findings of damage: 1 pack_damaged, 2 content_damaged\n$/,
      ),
    ]);
    expect((await verify('--project', second)).code).toBe(0);
    await store.put(key, bytes);
    expect((await verify()).code).toBe(0);
  });

  test("of a build's artifact", async ({ skip }) => {
    const status = server.service.ctx.runnerStatus();
    if (!status?.ok) skip(`no sandbox can be made here: ${status?.missing.join('; ')}`);
    const bench = await newBench(server);
    const { id } = await bench.ended((await bench.submit('mkdir dist; echo x > dist/x')).id);
    const { db, store } = server.service.ctx;
    const { artifact_key: key } = await db
      .selectFrom('builds')
      .select('artifact_key')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const found = async () =>
      (await verify('--project', bench.appId)).report.findings.map((f) => [f.kind, f.buildId]);
    expect([(await verify()).report.artifacts, await found()]).toEqual([1, []]);
    const bytes = await store.get(key!);
    await store.put(key!, Buffer.from(bytes.map((b, i) => (i === 12 ? b ^ 1 : b))));
    expect(await found()).toEqual([['artifact_damaged', id]]);
    await store.put(key!, bytes.subarray(1));
    expect(await found()).toEqual([['object_size', id]]);
    await store.delete(key!);
    await db.updateTable('builds').set({ file_count: 7 }).where('id', '=', id).execute();
    await db.updateTable('objects').set({ committed_at: null }).where('key', '=', key!).execute();
    expect(await found()).toEqual([
      ['object_unregistered', id],
      ['object_missing', id],
      ['artifact_manifest', id],
    ]);
    await server.call('DELETE', `/api/platform/v1/apps/${bench.appId}`);
  });
});

test('exit code 2: wrong use is answered with what is right', async () => {
  for (const [said, ...args] of [
    ['--concurrency is a number from 1 to 16', '--concurrency', '0'],
    ['--concurrency is a number from 1 to 16', '--concurrency', 'x'],
    ['there is no project prj_none', '--project', 'prj_none'],
    ['headrace storage verify has no option --nonsense', '--nonsense'],
  ]) {
    const { code, stdout, stderr } = await headrace(['storage', 'verify', ...args]);
    expect([args, code, stdout, stderr]).toEqual([args, 2, '', expect.stringContaining(said!)]);
  }
});

describe('exit code 3', () => {
  test('the folder of the objects is away, or the wrong one', async () => {
    const { dataDir } = server.service.ctx.config;
    const elsewhere = await mkdtemp(join(tmpdir(), 'headrace-empty-'));
    expect(await headrace(['storage', 'verify'], { HEADRACE_DATA_DIR: elsewhere })).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /could not finish: the folder of the objects cannot be read \(ENOENT.*HEADRACE_DATA_DIR/,
      ),
    });
    await rm(elsewhere, { recursive: true });
    await rename(join(dataDir, 'objects'), join(dataDir, 'away'));
    expect((await headrace(['storage', 'verify'])).code).toBe(3);
    await rename(join(dataDir, 'away'), join(dataDir, 'objects'));
  });

  test('the database is away', async () => {
    const answer = await headrace(['storage', 'verify'], { DATABASE_URL: 'postgresql://127.0.0.1:1/none' });
    expect(answer).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /could not finish: the database does not answer \(.*ECONNREFUSED.*set DATABASE_URL/,
      ),
    });
  });

  test('the bucket is away', async () => {
    const answer = await headrace(['storage', 'verify'], {
      HEADRACE_S3_BUCKET: 'none',
      HEADRACE_S3_ENDPOINT: 'http://127.0.0.1:1',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
    });
    expect(answer).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /could not finish: the bucket none does not serve requests \(.*HEADRACE_S3_ENDPOINT/,
      ),
    });
  });
});
