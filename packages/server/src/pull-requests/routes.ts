import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createPullRequest } from './create-pull-request.ts';
import { getPullRequest } from './get-pull-request.ts';
import { listPullRequests } from './list-pull-requests.ts';
import { mergePullRequest } from './merge-pull-request.ts';
import { syncPullRequest } from './sync-pull-request.ts';
import { updateBranch } from './update-branch.ts';
import { updatePullRequest } from './update-pull-request.ts';
import { updateReviewLoop } from './update-review-loop.ts';

const ALL = '/threads/:threadId/pull-requests';
const ONE = `${ALL}/:pullRequestId`;

export const routes: Route[] = [
  directRoute('POST', ALL, createPullRequest),
  directRoute('GET', ALL, listPullRequests),
  directRoute('GET', ONE, getPullRequest),
  directRoute('PATCH', ONE, updatePullRequest),
  directRoute('POST', `${ONE}/sync`, syncPullRequest),
  directRoute('POST', `${ONE}/update-branch`, updateBranch),
  directRoute('POST', `${ONE}/merge`, mergePullRequest),
  directRoute('PATCH', `${ONE}/review-loop`, updateReviewLoop),
];
