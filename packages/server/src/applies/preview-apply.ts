import Type from 'typebox';
import { transaction } from '../db/transaction.ts';
import { invalid } from '../http/errors.ts';
import { read } from '../http/operation.ts';
import { Enum, Id, Ok } from '../http/schemas.ts';
import { DiffFile, faultsMapped } from '../sources/index.ts';
import { loadThread } from '../threads/index.ts';
import { mergeRequest } from '../sources/index.ts';
import { resolutionFields } from './merge-faults.ts';
import { requireApplicable } from './policy.ts';
import { Conflict, PreviewBody } from './schemas.ts';

const Preview = Type.Object({
  headSourceId: Id('src', 'The head that was merged with.'),
  status: Enum(['clean', 'conflicted']),
  changes: Type.Array(DiffFile, {
    description: 'From the head to the merge; conflicting paths as in the draft.',
  }),
  conflicts: Type.Array(Conflict, {
    description: 'The conflicts, or those that remain with these resolutions.',
  }),
});

export const previewApply = read({
  name: 'applies.previewApply',
  summary: 'Preview what an apply would change',
  description:
    'Merges as an apply would, and refuses what it refuses. Changes nothing; takes no Idempotency-Key.',
  access: { permissions: ['thread:read'] },
  body: PreviewBody,
  responses: { 200: Ok({ preview: Preview }) },
  async handle(call) {
    const { ctx } = call;
    const body = call.body;
    const sides = await transaction(ctx, async (tx) =>
      requireApplicable(tx, await loadThread(tx.db, call), body),
    );
    const { status, files, conflicts, faults } = await faultsMapped(
      ctx.merger.preview(mergeRequest(ctx, sides, body.resolutions ?? [])),
    );
    if (faults.length) throw invalid(...resolutionFields(faults));
    return {
      status: 200,
      body: { ok: true, preview: { headSourceId: sides.head, status, changes: files, conflicts } },
    };
  },
});
