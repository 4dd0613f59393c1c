import { read } from '../http/operation.ts';
import { Ok } from '../http/schemas.ts';
import { scmFault } from './faults.ts';
import { numberOf, seenProjects, shownLocalPull } from './local-pulls.ts';
import { getPull } from './local/pull-requests.ts';
import { openHosted } from './open-repository.ts';
import { LocalPull } from './schemas.ts';

export const getPullRequest = read({
  name: 'scm.getPullRequest',
  summary: 'Read a pull request of a repository that this service hosts',
  description: 'Reflects the current state of its branches.',
  access: { permissions: ['repo:read'] },
  capability: 'sourceControl',
  responses: { 200: Ok({ pullRequest: LocalPull }) },
  async handle(call) {
    const { at } = await openHosted(call);
    const row = await getPull(at, numberOf(call.params)).catch((error: unknown) => {
      throw scmFault(error);
    });
    const pullRequest = await shownLocalPull(at, row, seenProjects(call.principal));
    return { status: 200, body: { ok: true, pullRequest } };
  },
});
