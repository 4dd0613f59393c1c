/** A downloaded artifact as files in memory, checked against its manifest. */
import type { Manifest } from '../generated/types.ts';
import { sha256Of } from './source-hash.ts';
import type { HashedFile } from './source-hash.ts';
import { ArchiveError, readTarGz } from './tar-reader.ts';

export interface ArtifactFile {
  path: string;
  content: Uint8Array;
  mode: '0644' | '0755';
}

/** The files of a build. Throws ArchiveError unless they are exactly those of the manifest. */
export async function readArtifact(artifact: Uint8Array, manifest: Manifest): Promise<ArtifactFile[]> {
  verifyArtifact(artifact, manifest);
  const files: (ArtifactFile & HashedFile)[] = [];
  const limits = { files: manifest.fileCount, bytes: manifest.byteSize };
  for await (const { path, content, executable } of readTarGz(artifact, limits)) {
    const mode = executable ? '0755' : '0644';
    files.push({ path, content, mode, executable, byteSize: content.length, sha256: sha256Of(content) });
  }
  matchManifest(files, manifest);
  return files.map(({ path, content, mode }) => ({ path, content, mode }));
}

export function verifyArtifact(artifact: Uint8Array, manifest: Manifest): void {
  if (sha256Of(artifact) !== manifest.artifactSha256)
    throw new ArchiveError('The artifact does not match its manifest: its SHA-256 differs.');
}

export function matchManifest(files: readonly HashedFile[], manifest: Manifest): void {
  const expected = new Map(manifest.files.map((file) => [file.path, file]));
  for (const { path, byteSize, sha256, executable } of files) {
    const file = expected.get(path);
    const isRight =
      file?.byteSize === byteSize && file.sha256 === sha256 && (file.mode === '0755') === executable;
    if (!isRight)
      throw new ArchiveError(`The artifact's file ${JSON.stringify(path)} does not match the manifest.`);
    expected.delete(path);
  }
  const [missing] = expected.keys();
  if (missing !== undefined)
    throw new ArchiveError(
      `The artifact lacks ${expected.size} of the manifest's files, for example ${JSON.stringify(missing)}.`,
    );
}
