/** What the pages of the team, keys, audit and usage show. */
import { createClient } from '@headrace/client';
import type { Client } from '@headrace/client';
import type { Site } from '../../ground.ts';

/** A session as a client: accounts, members and the organization take no key. */
export const asOwner = ({ base, state }: Pick<Site, 'base' | 'state'>): Client =>
  createClient({
    baseUrl: base,
    session: true,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('origin', base);
      headers.set('cookie', state.cookies.map(({ name, value }) => `${name}=${value}`).join('; '));
      return fetch(input, { ...init, headers });
    },
  });

export const KIM = { email: 'kim@example.test', name: 'Kim <b>Roe</b>', password: 'a long password of Kim' };

/** A person who has accepted an invitation. */
export async function joined(site: Site, person: typeof KIM, role: 'member' | 'admin' = 'member') {
  const { url } = await asOwner(site).members.invite({ email: person.email, role });
  const token = url!.slice(url!.lastIndexOf('/') + 1);
  const response = await fetch(`${site.base}/api/invitations/${token}/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: site.base },
    body: JSON.stringify({ name: person.name, password: person.password }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
}

/** What they show. */
export async function teamGround(site: Site) {
  const owner = asOwner(site);
  await joined(site, KIM);
  await owner.members.invite({ email: 'lee@example.test', role: 'admin' });
  const app = await site.client.apps.create({ name: 'Booking' });
  const { account } = await owner.accounts.create({
    name: 'Booking backend',
    permissions: { project: ['read'], thread: ['create', 'read', 'update', 'stop'] },
    projectIds: [app.id],
  });
  await owner.credentials.rotate(account.id, { expiresInSeconds: 30 * 86_400 });
  const former = await owner.credentials.rotate(account.id, { expiresInSeconds: 86_400 });
  await owner.credentials.revoke(account.id, former.credential.id);
  await owner.accounts.create({
    name: 'Nightly report',
    permissions: { project: ['read'], thread: ['read'], usage: ['read'] },
  });
  await owner.organizations.create({ name: 'Second mill' });
  return { accountId: account.id };
}
