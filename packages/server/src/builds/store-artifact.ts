import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import { escapeControls } from '../db/clean-text.ts';
import type { ManifestFile } from '../db/schema.ts';
import { newId } from '../ids.ts';
import { discardObject, gzipChunks, registerObject } from '../sources/index.ts';
import { sortByPath } from '../trees/paths.ts';
import { OutputFault, repackOutput } from './repack-output.ts';
import type { Build } from './store.ts';

/** A stored object that only its registration names yet. */
export interface Artifact {
  key: string;
  sha256: string;
  byteSize: number;
  files: ManifestFile[];
}

/**
 * Reads the output of an ended build from its runner, checks it, and stores it as tar.gz. The object is
 * registered before it is put, so that the clean-up finds it after an interruption. Throws OutputFault, or
 * what runner and store throw.
 */
export async function storeArtifact(ctx: Context, build: Build): Promise<Artifact> {
  const output = await ctx.runner.output(build.id).catch((error: unknown) => {
    throw faultOf(error);
  });
  const object = {
    org_id: build.org_id,
    project_id: build.project_id,
    key: `projects/${build.project_id}/builds/${newId('pack')}`,
  };
  const artifact: Artifact = { key: object.key, sha256: '', byteSize: 0, files: [] };
  try {
    await registerObject(ctx.db, object);
    await put(ctx, output, artifact);
    sortByPath(artifact.files);
    return artifact;
  } catch (error) {
    await discardObject(ctx.db, object).catch(() => null);
    throw error;
  } finally {
    output.destroy();
  }
}

async function put(ctx: Context, output: Readable, artifact: Artifact): Promise<void> {
  const hash = createHash('sha256');
  let fault: unknown;
  async function* measured() {
    try {
      for await (const chunk of gzipChunks(repackOutput(output, artifact.files))) {
        hash.update(chunk);
        artifact.byteSize += chunk.length;
        yield chunk;
      }
    } catch (error) {
      fault = error;
      throw error;
    }
  }
  // The store wraps errors of the stream; the output's own one is thrown instead.
  await ctx.store
    .put(artifact.key, Readable.from(measured(), { objectMode: false }))
    .catch((error: unknown) => {
      throw fault ?? error;
    });
  artifact.sha256 = hash.digest('hex');
}

/** An OutputFault where the runner refused to pack the directory; else the error itself. */
function faultOf(error: unknown): unknown {
  if (!(error instanceof RunnerError) || (error.code !== 'output_missing' && error.code !== 'output_invalid'))
    return error;
  return new OutputFault(error.code, escapeControls(error.message.slice(0, 2000)));
}
