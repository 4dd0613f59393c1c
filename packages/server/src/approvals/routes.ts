import { threadRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { answerApproval } from './answer-approval.ts';
import { listApprovals } from './list-approvals.ts';

export const routes: Route[] = [
  ...threadRoute('GET', '/threads/:threadId/approvals', listApprovals),
  ...threadRoute('POST', '/threads/:threadId/approvals/:approvalId', answerApproval),
];
