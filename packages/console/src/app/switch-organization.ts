import { client } from '../api/client.ts';
import { leaveTo } from './leave.ts';
import { tellOrganization } from './organization.ts';

/** Nothing of one organization may be seen in another: a fresh page starts from nothing. */
export async function switchOrganization(organizationId: string): Promise<void> {
  // No kept key: after a way there and back, the answer of the first time would be given again, and nothing done.
  await client.session.switchOrganization({ organizationId });
  tellOrganization(organizationId);
  leaveTo('/console/');
}
