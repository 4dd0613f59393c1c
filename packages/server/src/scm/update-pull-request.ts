import { Ok } from '../http/schemas.ts';
import { outsideWrite } from '../receipts/outside-write.ts';
import { changingLocally } from './local-effects.ts';
import { requirePull } from './local-pulls.ts';
import { LocalPull, LocalPullChange } from './schemas.ts';

export const updatePullRequest = outsideWrite({
  name: 'scm.updatePullRequest',
  summary: 'Change a pull request of a repository that this service hosts',
  description: 'Changes only what it names. A closed one takes `state` `open` alone; a merged one nothing.',
  access: { permissions: ['repo:update'] },
  capability: 'sourceControl',
  body: LocalPullChange,
  responses: { 200: Ok({ pullRequest: LocalPull }) },
  async claim(tx, call) {
    await requirePull(tx, call);
    const { base, ...rest } = call.body;
    return {
      target: {
        repositoryId: call.params.repositoryId!,
        number: Number(call.params.number),
        change: { ...rest, ...(base === undefined ? {} : { baseRef: base }) },
      },
    };
  },
  effect: changingLocally,
});
