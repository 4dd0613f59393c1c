/**
 * Import: the body is parsed, checked and hashed in a worker thread before the claim; contents are packed
 * and put between the claim and the transaction that stores the source.
 */
import Type from 'typebox';
import type { Static } from 'typebox';
import type { ProjectRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import { invalid } from '../http/errors.ts';
import { claimedWrite } from '../http/operation.ts';
import type { Call } from '../http/operation.ts';
import { Body, Enum, Ok } from '../http/schemas.ts';
import { loadProject, requireUnbound, scopeOf } from '../projects/index.ts';
import { accepted, faultsMapped } from './faults.ts';
import { keepUntilTaken } from './import/kept-contents.ts';
import type { EditRequest, ImportedSource } from './import/pool.ts';
import { LINKS } from './import/tar-links.ts';
import { insertSource } from './insert-source.ts';
import { limitsOf } from './limits.ts';
import { ImportBody, MessageInput, Source, SourceIdInput, Warnings } from './schemas.ts';
import { abandon, stageBlobs } from './stage.ts';
import { stageEdit } from './stage-edit.ts';
import { loadSource } from './store.ts';
import { sourceView } from './view.ts';

const ImportQuery = Body({
  message: Type.Optional(MessageInput),
  parentSourceId: Type.Optional(SourceIdInput),
  links: Type.Optional(
    Enum(LINKS, {
      description:
        'Symbolic links of a tar.gz: `refuse` (when left out) names each in `invalid_bundle`, `skip` leaves them out, `follow` makes each a copy of the file or folder of the archive that it leads to and leaves out the others.',
    }),
  ),
});
type ImportQuery = Static<typeof ImportQuery>;

/** A JSON import has these in its body, one place for each, and no links. */
function refuseQuery(query: ImportQuery): void {
  const fields = Object.keys(query).map((name) => ({
    path: `/query/${name}`,
    message:
      name === 'links' ? 'is for a tar.gz: JSON holds no links' : 'belongs in the body of a JSON import',
  }));
  if (fields.length) throw invalid(...fields);
}

/** All files of a source, or changes to one of the app. */
type Import = ImportedSource | EditRequest;

async function parse(call: Call<ImportQuery>): Promise<{ imported: Import; take: () => void }> {
  const { ctx, bytes, query } = call;
  const isGzip = call.contentType === 'application/gzip';
  if (!isGzip) refuseQuery(query);
  const imported = accepted(
    await faultsMapped(
      ctx.pool.parseImport(bytes, isGzip ? { links: query.links ?? 'refuse' } : 'application/json'),
    ),
  );
  return { imported, take: keepUntilTaken(call, imported.handle) };
}

/** The source to make, with its contents in the store. No transaction may be open. */
async function stage({ ctx, query }: Call<ImportQuery>, project: ProjectRow, imported: Import) {
  if ('baseSourceId' in imported) {
    const base = await loadSource(ctx.db, project.id, imported.baseSourceId);
    const edited = await stageEdit(ctx, project, imported, limitsOf(ctx, project));
    return { ...edited, parents: [base.id], warnings: [] };
  }
  const { handle, manifest, warnings } = imported;
  const parentId = imported.parentSourceId ?? query.parentSourceId ?? null;
  const parents = parentId === null ? [] : [(await loadSource(ctx.db, project.id, parentId)).id];
  const sha256s = Array.from(manifest.values(), ({ sha256 }) => sha256);
  const staged = await stageBlobs(ctx, project, { handle, sha256s });
  return { tree: imported, staged, parents, warnings };
}

export const importSource = claimedWrite({
  name: 'sources.importSource',
  summary: 'Import a source version',
  description:
    "Stores the files as a new, immutable source; the head does not move. At most 10,000 files, 8 MiB each, 32 MiB in all. With `baseSourceId` and `changes`, the new source is the base with the changes, which apply in order, all or none, as in an edit. With `application/gzip`, the body is a tar.gz, and `message`, `parentSourceId` and `links` are query parameters; a hard link is a file with its target's content. A refusal names each wrong file, at most 100.",
  access: { permissions: ['project:update'] },
  query: ImportQuery,
  body: ImportBody,
  rawBody: ['application/json', 'application/gzip'],
  responses: { 201: Ok({ source: Source, warnings: Warnings }) },
  mode: 'staged',
  publishesPending: true,
  async prepare(call) {
    const prepared = await parse(call);
    return { bodyDigest: prepared.imported.fingerprint, prepared };
  },
  async handle(call, claim, { imported, take }) {
    const { ctx, query } = call;
    take();
    try {
      const project = await loadProject(ctx.db, call);
      requireUnbound(project);
      const { tree, staged, parents, warnings } = await stage(call as Call<ImportQuery>, project, imported);
      return await transaction(ctx, async (tx) => {
        const locked = await loadProject(tx.db, call, 'share');
        const source = await insertSource(tx, locked, {
          tree,
          parents,
          origin: 'import',
          threadId: null,
          runId: null,
          message: imported.message ?? query.message ?? null,
          staged,
        });
        const result = {
          status: 201,
          body: { ok: true, source: sourceView(source), warnings },
          scope: scopeOf(locked),
        };
        await claim.settle(tx, result);
        return result;
      }).catch(async (error: unknown) => {
        await abandon(ctx, project, staged).catch(() => null);
        throw error;
      });
    } finally {
      ctx.pool.release(imported.handle);
    }
  },
});
