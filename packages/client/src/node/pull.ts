/** Writes a version of an app, or the artifact of a build, to a folder. */
import type { Client } from '../client.ts';
import { HeadraceError } from '../errors.ts';
import { matchManifest, verifyArtifact } from './artifact.ts';
import type { Manifest, Source } from '../generated/types.ts';
import { extractChecked } from './extract.ts';
import type { ExtractOptions } from './extract.ts';
import type { Installed } from './install.ts';
import { filesOf } from './plan.ts';
import { sourceSha256 } from './source-hash.ts';
import { ArchiveError } from './tar-reader.ts';

export interface PullOptions extends ExtractOptions {
  folder: string;
  /** Default: the app's head. */
  sourceId?: string;
  /**
   * The version that the folder holds: files that have not changed since are replaced, or deleted if the pulled
   * version lacks them.
   */
  baseSourceId?: string;
}

/**
 * Throws HeadraceError, ChangedFilesError for files that would be lost (without `baseSourceId`, all that differ),
 * and ArchiveError for a download that does not match the version. Then nothing is written.
 */
export async function pull(
  client: Client,
  appId: string,
  { folder, sourceId, baseSourceId, force, signal }: PullOptions,
): Promise<Installed & { source: Source }> {
  const id = sourceId ?? (await client.apps.get(appId, { signal })).headSourceId;
  if (id === null)
    throw new HeadraceError(
      409,
      'head_not_initialized',
      'The app has no head yet: push a folder, or name a source.',
    );
  const source = await client.sources.get(appId, id, { signal });
  const known = baseSourceId === undefined ? undefined : await filesOf(client, appId, baseSourceId, signal);
  const installed = await extractChecked(await client.sources.archive(appId, id, { signal }), folder, {
    force,
    signal,
    known,
    limits: { files: source.fileCount, bytes: source.byteSize },
    check(files) {
      if (sourceSha256(files) !== source.sha256)
        throw new ArchiveError('The files in the archive do not match its source: their SHA-256 differs.');
    },
  });
  return { ...installed, source };
}

/** Downloads an artifact, checks every file against the manifest, and writes them as `pull` does. */
export async function pullArtifact(
  client: Client,
  appId: string,
  buildId: string,
  { folder, force, signal }: ExtractOptions & { folder: string },
): Promise<Installed & { manifest: Manifest }> {
  const manifest = await client.builds.manifest(appId, buildId, { signal });
  const artifact = await client.builds.artifact(appId, buildId, { signal });
  verifyArtifact(artifact, manifest);
  const installed = await extractChecked(artifact, folder, {
    force,
    signal,
    limits: { files: manifest.fileCount, bytes: manifest.byteSize },
    check: (files) => matchManifest(files, manifest),
  });
  return { ...installed, manifest };
}
