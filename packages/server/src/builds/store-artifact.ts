import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import type { ManifestFile } from '../db/schema.ts';
import { newId } from '../ids.ts';
import { gzipChunks } from '../sources/index.ts';
import { sortByPath } from '../trees/paths.ts';
import { OutputFault, repackOutput, shown } from './repack-output.ts';
import type { Build } from './view.ts';

/** What lies in the store, and is named by no row yet but its registration. */
export interface Artifact {
  key: string;
  sha256: string;
  byteSize: number;
  files: ManifestFile[];
}

/**
 * Reads the output of an ended build from its runner, checks it, and stores it as tar.gz. The object is
 * registered before it is put, so that cleanup finds what an interruption leaves. Throws OutputFault, or
 * what runner and store throw.
 */
export async function storeArtifact(ctx: Context, build: Build): Promise<Artifact> {
  const output = await ctx.runner.output(build.id).catch((error: unknown) => {
    throw faultOf(error);
  });
  const artifact: Artifact = {
    key: `projects/${build.project_id}/builds/${newId('pack')}`,
    sha256: '',
    byteSize: 0,
    files: [],
  };
  try {
    await ctx.db
      .insertInto('objects')
      .values({ org_id: build.org_id, key: artifact.key, project_id: build.project_id })
      .execute();
    await put(ctx, output, artifact);
    sortByPath(artifact.files);
    return artifact;
  } catch (error) {
    await discardObject(ctx.db, build, artifact.key).catch(() => null);
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
  // The store wraps what it is given: the output's own fault goes before.
  await ctx.store
    .put(artifact.key, Readable.from(measured(), { objectMode: false }))
    .catch((error: unknown) => {
      throw fault ?? error;
    });
  artifact.sha256 = hash.digest('hex');
}

/** The runner's own refusals to pack a directory. */
function faultOf(error: unknown): unknown {
  if (!(error instanceof RunnerError) || (error.code !== 'output_missing' && error.code !== 'output_invalid'))
    return error;
  return new OutputFault(error.code, shown(error.message.slice(0, 2000)));
}

/** Has an object removed that no row will name. Registered anew where cleanup was here before the put. */
export async function discardObject(
  db: Pick<Context['db'], 'insertInto'>,
  build: Pick<Build, 'org_id' | 'project_id'>,
  key: string,
): Promise<void> {
  const change = { committed_at: null, delete_after: sql<Date>`now()` };
  await db
    .insertInto('objects')
    .values({ org_id: build.org_id, key, project_id: build.project_id, ...change })
    .onConflict((c) => c.column('key').doUpdateSet(change))
    .execute();
}
