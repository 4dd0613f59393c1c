import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loopback, sendJson } from '../loopback.fixture.ts';
import type { Seen } from '../loopback.fixture.ts';
import { pull, pullArtifact } from './pull.ts';
import { sha256Of, sourceSha256 } from './source-hash.ts';
import { tarGz } from './tar-writer.ts';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'headrace pull '));
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

const FILES = Object.entries({ 'index.html': '<h1>', 'bin/run': '#!' }).map(([path, content]) => ({
  path,
  content: Buffer.from(content),
  byteSize: content.length,
  sha256: sha256Of(Buffer.from(content)),
  executable: path === 'bin/run',
}));
const packed = (files = FILES) => buffer(tarGz(files, ({ content }) => content));
const send = (response: ServerResponse, archive: Buffer) =>
  response.writeHead(200, { 'content-type': 'application/gzip' }).end(archive);

/** A service with one source and one build. */
async function serviceWith(archive: Buffer, artifactSha256 = sha256Of(archive)) {
  const sums = { fileCount: FILES.length, byteSize: FILES.reduce((sum, file) => sum + file.byteSize, 0) };
  const source = { id: 'src_1', sha256: sourceSha256(FILES), ...sums };
  const files = FILES.map(({ path, byteSize, sha256, executable }) => ({
    path,
    byteSize,
    sha256,
    mode: executable ? '0755' : '0644',
  }));
  return loopback((response: ServerResponse, { url }: Seen) => {
    if (/\/(archive|artifact)$/.test(url)) return send(response, archive);
    if (url.endsWith('/manifest'))
      return sendJson(response, 200, { ok: true, manifest: { ...sums, artifactSha256, files } });
    return sendJson(response, 200, { ok: true, source });
  });
}

test('an artifact is written when all of its files are those of the manifest', async () => {
  await using service = await serviceWith(await packed());
  const folder = join(base, 'dist');
  const { written, manifest } = await pullArtifact(service.client, 'prj_1', 'bld_1', { folder });
  expect(written).toEqual(['index.html', 'bin/run']);
  expect(manifest.fileCount).toBe(2);
  expect(readFileSync(join(folder, 'index.html'), 'utf8')).toBe('<h1>');
  expect(statSync(join(folder, 'bin/run')).mode & 0o100).toBe(0o100);
});

const [page, tool] = FILES as [(typeof FILES)[number], (typeof FILES)[number]];
test.each([
  ['another content', [page, { ...tool, content: Buffer.from('!#') }]],
  ['another mode', [page, { ...tool, executable: false }]],
  ['another name', [page, { ...tool, path: 'bin/walk' }]],
  ['a file less', [page]],
])('a download with %s is refused, and nothing is written', async (_, files) => {
  await using service = await serviceWith(await packed(files));
  const folder = join(base, 'site');
  const pulling = pull(service.client, 'prj_1', { folder, sourceId: 'src_1' });
  await expect(pulling).rejects.toMatchObject({ name: 'ArchiveError' });
  const unpacking = pullArtifact(service.client, 'prj_1', 'bld_1', { folder });
  await expect(unpacking).rejects.toMatchObject({ name: 'ArchiveError' });
  expect(readdirSync(base)).toEqual([]);
});

test('an artifact that does not match the bytes in the manifest is refused', async () => {
  await using service = await serviceWith(await packed(), '0'.repeat(64));
  const pulling = pullArtifact(service.client, 'prj_1', 'bld_1', { folder: join(base, 'site') });
  await expect(pulling).rejects.toThrow('its SHA-256 differs');
});
