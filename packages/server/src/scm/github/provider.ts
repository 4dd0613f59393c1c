/** GitHub.com and GitHub Enterprise, by Octokit. */
import type { Provider } from '../provider.ts';
import { baseUrlFault, GITHUB_COM, plainBaseUrl, siteOf } from './addresses.ts';
import { checkLog, listChecks } from './checks.ts';
import { gitTransport } from './git-transport.ts';
import { commitAuthor, verify } from './identity.ts';
import { commentOnIssue, findComment, getIssue } from './issues.ts';
import { mergePullRequest } from './merge.ts';
import { createPullRequest, findPullRequests, getPullRequest, updatePullRequest } from './pull-requests.ts';
import {
  canPush,
  getRepository,
  inspectTree,
  listBranches,
  listRepositories,
  resolveRef,
} from './repositories.ts';
import { listReviewThreads, replyToThread } from './reviews.ts';
import { readWebhook } from './webhook.ts';

export const githubProvider: Provider = {
  capabilities: { hosts: false, mergeQueue: true },
  baseUrlOf(given = GITHUB_COM, allowPrivate) {
    const fault = baseUrlFault(given, allowPrivate);
    return fault === null ? { baseUrl: plainBaseUrl(given) } : { fault };
  },
  siteOf: ({ base_url: baseUrl }) => siteOf(baseUrl!),
  verify,
  commitAuthor,
  listRepositories,
  getRepository,
  listBranches,
  resolveRef,
  inspectTree,
  canPush,
  gitTransport,
  findPullRequests,
  createPullRequest,
  getPullRequest,
  updatePullRequest,
  mergePullRequest,
  listChecks,
  checkLog,
  listReviewThreads,
  replyToThread,
  getIssue,
  findComment,
  commentOnIssue,
  readWebhook,
};
