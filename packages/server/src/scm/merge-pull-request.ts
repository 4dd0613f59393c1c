import { Ok } from '../http/schemas.ts';
import { outsideWrite } from '../receipts/outside-write.ts';
import { mergingLocally } from './local-effects.ts';
import { numberOf, requirePull, seenProjects } from './local-pulls.ts';
import { LocalMerge, LocalPull } from './schemas.ts';

export const mergePullRequest = outsideWrite({
  name: 'scm.mergePullRequest',
  summary: 'Merge a pull request of a repository that this service hosts',
  description:
    '`merge` makes a commit of two parents, `squash` one of one parent, `rebase` copies the commits. Refused (409 `merge_refused`, `error.reason`) for conflicts, a draft, a required check that has not succeeded, a method that the repository does not allow.',
  access: { permissions: ['repo:update'] },
  capability: 'sourceControl',
  body: LocalMerge,
  responses: { 200: Ok({ pullRequest: LocalPull }) },
  async claim(tx, call) {
    const { principal, params, body, address } = call;
    const { id } = await requirePull(tx, call);
    return {
      target: {
        ...body,
        orgId: principal.orgId,
        repositoryId: id,
        number: numberOf(params),
        seen: seenProjects(principal),
        actorId: principal.actorId,
        address,
      },
    };
  },
  effect: mergingLocally,
});
