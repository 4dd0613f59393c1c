/** Who calls: a service account by its key, or a user by a browser session, acting in one organization. */
export type Role = 'owner' | 'admin' | 'member';

export interface Principal {
  kind: 'key' | 'session';
  orgId: string;
  /** The `sa_` or `usr_` id: receipts, audit and `createdBy` name it. */
  actorId: string;
  accountId: string | null;
  userId: string | null;
  credentialId: string | null;
  /** Only with a session. */
  role: Role | null;
  /** `thread:update`, … */
  permissions: ReadonlySet<string>;
  /** null = every project of the organization. */
  projectIds: ReadonlySet<string> | null;
  /** The organization's entitlement to /api/platform. */
  platformApi: boolean;
  /** Capabilities that the operator has taken from the organization. */
  without?: readonly string[];
  /** Acts by a session in the deployment's first organization. */
  isOperator?: boolean;
}

export const may = (principal: Principal, permission: string) => principal.permissions.has(permission);
export const seesProject = (principal: Principal, projectId: string) =>
  principal.projectIds === null || principal.projectIds.has(projectId);
