import { transaction } from '../db/transaction.ts';
import { invalid, notFound } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { faultsMapped, mergeRequest } from '../sources/index.ts';
import { loadThread } from '../threads/index.ts';
import { resolutionFields } from './merge-faults.ts';
import { requireApplicable } from './policy.ts';
import { ConflictFile, PreviewFileBody } from './schemas.ts';

export const previewFile = read({
  name: 'applies.previewFile',
  summary: 'Read one conflicted file: its three sides, and the merged text with markers',
  description:
    'Merges as a preview does, and refuses what a preview refuses. A path that is not in conflict, or that these resolutions settle, is 404 `file_not_found`. Changes nothing; takes no Idempotency-Key.',
  access: { permissions: ['thread:read'] },
  body: PreviewFileBody,
  responses: { 200: Ok({ file: ConflictFile }) },
  async handle(call) {
    const {
      ctx,
      body: { path, ...decision },
    } = call;
    const sides = await transaction(ctx, async (tx) =>
      requireApplicable(tx, await loadThread(tx.db, call), decision),
    );
    const { file, faults } = await faultsMapped(
      ctx.merger.conflictFile(mergeRequest(ctx, sides, decision.resolutions), path),
    );
    if (faults.length) throw invalid(...resolutionFields(faults));
    if (!file) throw notFound('file');
    return { status: 200, body: { ok: true, file } };
  },
});
