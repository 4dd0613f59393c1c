import { Ok } from '../http/schemas.ts';
import { outsideWrite } from '../receipts/outside-write.ts';
import { openingLocally } from './local-effects.ts';
import { actorName } from './actor-name.ts';
import { seenProjects } from './local-pulls.ts';
import { requireHosted } from './open-repository.ts';
import { loadRepository } from './policy.ts';
import { LocalPull, NewLocalPull } from './schemas.ts';

export const createPullRequest = outsideWrite({
  name: 'scm.createPullRequest',
  summary: 'Open a pull request in a repository that this service hosts',
  description:
    "For people and CI; agents' pull requests are opened at their threads. The same branches have one open pull request.",
  access: { permissions: ['repo:update'] },
  capability: 'sourceControl',
  body: NewLocalPull,
  responses: { 201: Ok({ pullRequest: LocalPull }) },
  async claim(tx, { principal, params, body, address }) {
    const repository = await loadRepository(tx.db, principal, params.repositoryId!);
    requireHosted(repository);
    return {
      target: {
        orgId: principal.orgId,
        repositoryId: repository.id,
        title: body.title,
        body: body.body ?? '',
        draft: body.draft ?? false,
        headRef: body.headRef,
        baseRef: body.baseRef ?? null,
        author: await actorName(tx.db, principal),
        seen: seenProjects(principal),
        actorId: principal.actorId,
        address,
      },
    };
  },
  effect: openingLocally,
});
