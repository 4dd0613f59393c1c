import { Ok } from '../http/schemas.ts';
import { outsideWrite } from '../receipts/outside-write.ts';
import { changingLocally } from './local-effects.ts';
import { numberOf, requirePull, seenProjects } from './local-pulls.ts';
import { LocalPull, LocalPullChange } from './schemas.ts';

export const updatePullRequest = outsideWrite({
  name: 'scm.updatePullRequest',
  summary: 'Change a pull request of a repository that this service hosts',
  description:
    'Changes only the given fields. A closed pull request accepts only `state` `open`; a merged one accepts nothing.',
  access: { permissions: ['repo:update'] },
  capability: 'sourceControl',
  body: LocalPullChange,
  responses: { 200: Ok({ pullRequest: LocalPull }) },
  async claim(tx, call) {
    const { id } = await requirePull(tx, call);
    const { base, ...rest } = call.body;
    const change = { ...rest, ...(base === undefined ? {} : { baseRef: base }) };
    const seen = seenProjects(call.principal);
    return { target: { repositoryId: id, number: numberOf(call.params), change, seen } };
  },
  effect: changingLocally,
});
