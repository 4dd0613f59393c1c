import Type from 'typebox';
import { read } from '../http/operation.ts';
import { Body, Counter, Ok } from '../http/schemas.ts';
import { waitFor } from '../http/wait-for.ts';
import { loadPullRequest } from '../sync/index.ts';
import { PullRequest } from './schemas.ts';
import { pullRequestView } from './view.ts';

export const getPullRequest = read({
  name: 'pullRequests.getPullRequest',
  summary: 'Get a pull request; with afterVersion and waitSeconds, wait for a change',
  access: { permissions: ['thread:read'] },
  capability: 'sourceControl',
  query: Body({
    afterVersion: Type.Optional(Counter),
    waitSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30,
        description: 'Responds once its version is above afterVersion, or after this many seconds.',
      }),
    ),
  }),
  responses: { 200: Ok({ pullRequest: PullRequest }) },
  async handle(call) {
    const { ctx, params, query, signal } = call;
    const { afterVersion = 0, waitSeconds } = query;
    const found = await waitFor(
      { bus: ctx.bus, on: { channel: 'resources', id: params.pullRequestId! }, waitSeconds, signal },
      () => loadPullRequest(ctx.db, call),
      ({ row }) => row.version > afterVersion,
    );
    return { status: 200, body: { ok: true, pullRequest: pullRequestView(found) } };
  },
});
