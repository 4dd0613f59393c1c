export { decide } from './decide.ts';
export { requestApproval } from './request-approval.ts';
export { expireApprovals, resolveApprovals } from './resolve.ts';
export { commandOf } from './rules.ts';
export type { Rules } from './rules.ts';
export {
  overdueApprovals,
  pendingApprovals,
  purgeApprovals,
  purgeDecisions,
  resolvedApprovals,
} from './store.ts';
