import { invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { newId } from '../ids.ts';
import { enqueueSyncs } from '../pull-requests/index.ts';
import { actorName } from './actor-name.ts';
import { loadComment } from './comments.ts';
import { numberOf, requirePull } from './local-pulls.ts';
import { Comment, NewComment } from './schemas.ts';
import { insertLocalComment } from './store.ts';
import { commentView } from './view.ts';

export const createComment = write({
  name: 'scm.createComment',
  summary: 'Comment on a pull request of a repository that this service hosts',
  description: 'A comment without `inReplyTo` opens a review thread. A reply cannot be replied to.',
  access: { permissions: ['repo:update'] },
  capability: 'sourceControl',
  body: NewComment,
  responses: { 201: Ok({ comment: Comment }) },
  async handle(tx, call) {
    const { principal, params, body } = call;
    const repository = await requirePull(tx, call);
    const of = { repositoryId: repository.id, number: numberOf(params) };
    if (body.inReplyTo !== undefined) {
      const root = await loadComment(tx, of, body.inReplyTo);
      if (root.in_reply_to !== null)
        throw invalid({ path: '/inReplyTo', message: 'is a reply: give the comment that opened the thread' });
    }
    const row = await insertLocalComment(tx, {
      org_id: principal.orgId,
      id: newId('cmt'),
      repository_id: of.repositoryId,
      number: of.number,
      body: body.body,
      path: body.path ?? null,
      line: body.line ?? null,
      in_reply_to: body.inReplyTo ?? null,
      author: await actorName(tx.db, principal),
      author_id: principal.actorId,
    });
    await enqueueSyncs(tx, repository.id, of);
    return { status: 201, body: { ok: true, comment: commentView(row) } };
  },
});
