import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { enqueueSyncs } from '../pull-requests/index.ts';
import { loadComment } from './comments.ts';
import { numberOf, requirePull } from './local-pulls.ts';
import { Comment, CommentChange } from './schemas.ts';
import { saveLocalComment } from './store.ts';
import { commentView } from './view.ts';

export const updateComment = write({
  name: 'scm.updateComment',
  summary: 'Resolve a review thread, or open it again',
  access: { permissions: ['repo:update'] },
  capability: 'sourceControl',
  body: CommentChange,
  responses: { 200: Ok({ comment: Comment }) },
  async handle(tx, call) {
    const { params, body } = call;
    const repository = await requirePull(tx, call);
    const of = { repositoryId: repository.id, number: numberOf(params) };
    const before = await loadComment(tx, of, params.commentId!);
    const row = await saveLocalComment(tx, before.id, { resolved: body.resolved ?? before.resolved });
    await enqueueSyncs(tx, repository.id, of);
    return { status: 200, body: { ok: true, comment: commentView(row) } };
  },
});
