import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createComment } from './create-comment.ts';
import { createInstallation } from './create-installation.ts';
import { createPullRequest } from './create-pull-request.ts';
import { createRepository } from './create-repository.ts';
import { createStatus } from './create-status.ts';
import { deleteInstallation } from './delete-installation.ts';
import { deleteRepository } from './delete-repository.ts';
import { getInstallation } from './get-installation.ts';
import { getPullRequest } from './get-pull-request.ts';
import { getRepository } from './get-repository.ts';
import { inspectRepository } from './inspect-repository.ts';
import { listBranches } from './list-branches.ts';
import { listComments } from './list-comments.ts';
import { listInstallations } from './list-installations.ts';
import { listPullRequests } from './list-pull-requests.ts';
import { listRepositories } from './list-repositories.ts';
import { listStatuses } from './list-statuses.ts';
import { mergePullRequest } from './merge-pull-request.ts';
import { receiveWebhook } from './receive-webhook.ts';
import { syncInstallation } from './sync-installation.ts';
import { updateComment } from './update-comment.ts';
import { updateInstallation } from './update-installation.ts';
import { updatePullRequest } from './update-pull-request.ts';
import { updateRepository } from './update-repository.ts';

const SCM = '/source-control/scm';
const REPOSITORY = `${SCM}/repositories/:repositoryId`;
const STATUSES = `${REPOSITORY}/commits/:commitSha/statuses`;
const PULL = `${REPOSITORY}/pull-requests/:number`;

export const routes: Route[] = [
  directRoute('GET', `${SCM}/installations`, listInstallations),
  directRoute('GET', `${SCM}/installations/:installationId`, getInstallation),
  directRoute('POST', `${SCM}/installations`, createInstallation),
  directRoute('PATCH', `${SCM}/installations/:installationId`, updateInstallation),
  directRoute('DELETE', `${SCM}/installations/:installationId`, deleteInstallation),
  directRoute('POST', `${SCM}/installations/:installationId/sync`, syncInstallation),
  directRoute('POST', `${SCM}/webhooks/:installationId`, receiveWebhook),
  directRoute('POST', `${SCM}/repositories`, createRepository),
  directRoute('GET', `${SCM}/repositories`, listRepositories),
  directRoute('GET', REPOSITORY, getRepository),
  directRoute('PATCH', REPOSITORY, updateRepository),
  directRoute('DELETE', REPOSITORY, deleteRepository),
  directRoute('GET', `${REPOSITORY}/branches`, listBranches),
  directRoute('GET', `${REPOSITORY}/inspect`, inspectRepository),
  directRoute('POST', STATUSES, createStatus),
  directRoute('GET', STATUSES, listStatuses),
  directRoute('POST', `${REPOSITORY}/pull-requests`, createPullRequest),
  directRoute('GET', `${REPOSITORY}/pull-requests`, listPullRequests),
  directRoute('GET', PULL, getPullRequest),
  directRoute('PATCH', PULL, updatePullRequest),
  directRoute('POST', `${PULL}/merge`, mergePullRequest),
  directRoute('POST', `${PULL}/comments`, createComment),
  directRoute('GET', `${PULL}/comments`, listComments),
  directRoute('PATCH', `${PULL}/comments/:commentId`, updateComment),
];
