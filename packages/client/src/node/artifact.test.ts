import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { readArtifact } from './artifact.ts';
import type { Manifest } from '../generated/types.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const LONG = `${'folder/'.repeat(40)}naïve.html`;

async function build(
  files: Record<string, string>,
  type: 'file' | 'symlink' = 'file',
): Promise<{ artifact: Buffer; manifest: Manifest }> {
  const tar = pack();
  for (const [name, content] of Object.entries(files))
    tar.entry(
      { name, mode: 0o755, type, ...(type === 'symlink' ? { linkname: '/etc/passwd' } : {}) },
      type === 'file' ? content : '',
    );
  tar.finalize();
  const artifact = gzipSync(await buffer(tar));
  const listed = Object.entries(files).map(([path, content]) => ({
    path,
    byteSize: Buffer.byteLength(content),
    sha256: sha256(Buffer.from(content)),
    mode: '0755' as const,
  }));
  return {
    artifact,
    manifest: {
      buildId: 'bld_1',
      sourceId: 'src_1',
      artifactSha256: sha256(artifact),
      fileCount: listed.length,
      byteSize: listed.reduce((sum, file) => sum + file.byteSize, 0),
      files: listed,
    },
  };
}

test('files are read as the manifest has them, long names too', async () => {
  const { artifact, manifest } = await build({
    'index.html': '<h1>Hi</h1>',
    [LONG]: '',
    'a/b': 'x'.repeat(2000),
  });
  const files = await readArtifact(artifact, manifest);
  expect(files.map((f) => [f.path, f.content.length, f.mode])).toEqual([
    ['index.html', 11, '0755'],
    [LONG, 0, '0755'],
    ['a/b', 2000, '0755'],
  ]);
});

test.each(['../outside', '/etc/x', 'a//b', 'a\\b'])(
  'a path that may leave the folder is refused: %s',
  async (path) => {
    const { artifact, manifest } = await build({ [path]: 'x' });
    await expect(readArtifact(artifact, manifest)).rejects.toThrow('must ');
  },
);

test('links, other bytes, and missing or further files are refused', async () => {
  const link = await build({ a: 'x' }, 'symlink');
  await expect(readArtifact(link.artifact, link.manifest)).rejects.toThrow('not a regular file');
  const { artifact, manifest } = await build({ a: 'x', b: 'y' });
  const refused = (changes: Partial<Manifest>) =>
    expect(readArtifact(artifact, { ...manifest, ...changes })).rejects;
  await refused({ artifactSha256: '0'.repeat(64) }).toThrow('SHA-256 differs');
  const [a, b] = manifest.files as [Manifest['files'][number], Manifest['files'][number]];
  await refused({ files: [b] }).toThrow('"a" does not match the manifest');
  await refused({ files: [a, b, { ...a, path: 'c' }] }).toThrow('lacks 1');
  await refused({ files: [{ ...a, sha256: '0'.repeat(64) }, b] }).toThrow('does not match the manifest');
  await refused({ files: [{ ...a, mode: '0644' }, b] }).toThrow('does not match the manifest');
  await refused({ fileCount: 1 }).toThrow('more than 1 files');
  await refused({ byteSize: 1 }).toThrow('more than 1 bytes');
});
