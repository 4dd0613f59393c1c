import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { changePassword } from './change-password.ts';
import { createOrganization } from './create-organization.ts';
import { createServiceAccount } from './create-service-account.ts';
import { deleteOrganization } from './delete-organization.ts';
import { deleteServiceAccount } from './delete-service-account.ts';
import { endSession } from './end-session.ts';
import { getServiceAccount } from './get-service-account.ts';
import { getSession } from './get-session.ts';
import { inviteMember } from './invite-member.ts';
import { listCredentials } from './list-credentials.ts';
import { listInvitations } from './list-invitations.ts';
import { listMembers } from './list-members.ts';
import { listServiceAccounts } from './list-service-accounts.ts';
import { listSessions } from './list-sessions.ts';
import { removeMember } from './remove-member.ts';
import { revokeCredential } from './revoke-credential.ts';
import { revokeInvitation } from './revoke-invitation.ts';
import { rotateCredential } from './rotate-credential.ts';
import { signIn } from './sign-in.ts';
import { signOut } from './sign-out.ts';
import { switchOrganization } from './switch-organization.ts';
import { updateMember } from './update-member.ts';
import { updateServiceAccount } from './update-service-account.ts';

export const routes: Route[] = [
  directRoute('POST', '/auth/sign-in/email', signIn),
  directRoute('POST', '/auth/sign-out', signOut),
  directRoute('GET', '/session', getSession),
  directRoute('PUT', '/session/organization', switchOrganization),
  directRoute('PATCH', '/session/password', changePassword),
  directRoute('GET', '/sessions', listSessions),
  directRoute('DELETE', '/sessions/:sessionId', endSession),
  directRoute('POST', '/organizations', createOrganization),
  directRoute('DELETE', '/organizations/:organizationId', deleteOrganization),
  directRoute('GET', '/members', listMembers),
  directRoute('POST', '/members', inviteMember),
  directRoute('PATCH', '/members/:userId', updateMember),
  directRoute('DELETE', '/members/:userId', removeMember),
  directRoute('GET', '/invitations', listInvitations),
  directRoute('DELETE', '/invitations/:invitationId', revokeInvitation),
  directRoute('POST', '/invitations/:token/accept', acceptInvitation),
  directRoute('POST', '/service-accounts', createServiceAccount),
  directRoute('GET', '/service-accounts', listServiceAccounts),
  directRoute('GET', '/service-accounts/:accountId', getServiceAccount),
  directRoute('PATCH', '/service-accounts/:accountId', updateServiceAccount),
  directRoute('DELETE', '/service-accounts/:accountId', deleteServiceAccount),
  directRoute('POST', '/service-accounts/:accountId/credentials', rotateCredential),
  directRoute('GET', '/service-accounts/:accountId/credentials', listCredentials),
  directRoute('DELETE', '/service-accounts/:accountId/credentials/:credentialId', revokeCredential),
];
