/** The writes of the pages of the team, keys and usage. */
import type { Page } from 'playwright-core';
import { signedIn } from '../../page.ts';
import { confirm, press } from '../../writes.ts';
import type { Bench, Write } from '../../writes.ts';
import { asOwner, joined, KIM } from './ground.ts';

const dialog = (page: Page) => page.getByRole('dialog');
const box = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
let made = 0;

/** An account of its own, and its page. */
async function ownAccount({ at, ground }: Bench) {
  const owner = asOwner(ground);
  made++;
  const { account, credential } = await owner.accounts.create({ name: `Own ${made}`, permissions: {} });
  const { page } = await at(`/console/organization/keys/${account.id}`);
  const isThere = async () =>
    (await owner.accounts.list({ limit: 200 })).items.some(({ id }) => id === account.id);
  return { owner, account, credential, page, isThere };
}

/** A member of its own, on the page of the team. */
async function ownMember({ at, ground }: Bench) {
  made++;
  const email = `own-${made}@example.test`;
  await joined(ground, { email, name: `Own ${made}`, password: KIM.password });
  const { page } = await at('/console/organization/team');
  const read = async () =>
    (await asOwner(ground).members.list({ limit: 200 })).items.find((member) => member.email === email);
  return { email, page, read };
}

export const WRITES_OF_TEAM: Write[] = [
  {
    name: 'invite a person',
    asks: /^POST \/api\/members$/,
    field: '/email',
    isWhole: true,
    async begin({ at, ground }) {
      const { page } = await at('/console/organization/team');
      await press(page, 'Invite a person');
      await box(page, 'E-mail address').fill('new@example.test');
      return {
        page,
        press: () => press(page, 'Invite'),
        kept: () => box(page, 'E-mail address').inputValue(),
        done: async () =>
          (await asOwner(ground).invitations.list({ limit: 200 })).items.filter(
            ({ email }) => email === 'new@example.test',
          ).length,
      };
    },
  },
  {
    name: 'revoke an invitation',
    asks: /^DELETE \/api\/invitations\//,
    async begin({ at, ground }) {
      const owner = asOwner(ground);
      const { id } = await owner.members.invite({ email: 'gone@example.test', role: 'member' });
      const { page } = await at('/console/organization/team');
      await press(page, 'Revoke the invitation of gone@example.test');
      return {
        page,
        press: () => press(page, 'Revoke the invitation'),
        done: async () =>
          (await owner.invitations.list({ limit: 200 })).items.some((one) => one.id === id) ? 0 : 1,
      };
    },
  },
  {
    name: 'change a role',
    asks: /^PATCH \/api\/members\//,
    async begin(bench) {
      const { email, page, read } = await ownMember(bench);
      await press(page, `Change the role of ${email}`);
      await dialog(page).getByText('Admin', { exact: true }).click();
      return {
        page,
        press: () => press(page, 'Save the role'),
        kept: () => dialog(page).getByRole('radio', { name: 'Admin' }).isChecked(),
        done: async () => ((await read())?.role === 'admin' ? 1 : 0),
      };
    },
  },
  {
    name: 'remove a member',
    asks: /^DELETE \/api\/members\//,
    async begin(bench) {
      const { email, page, read } = await ownMember(bench);
      await press(page, `Remove ${email}`);
      return {
        page,
        press: () => press(page, 'Remove the member'),
        done: async () => ((await read()) ? 0 : 1),
      };
    },
  },
  {
    name: 'create an organization',
    asks: /^POST \/api\/organizations$/,
    field: '/name',
    async begin({ at, ground }) {
      const { page } = await at('/console/organization/team');
      await press(page, 'Create an organization');
      await box(page, 'Name').fill('Third mill');
      return {
        page,
        press: () => press(page, 'Create'),
        kept: () => box(page, 'Name').inputValue(),
        done: async () =>
          (await asOwner(ground).session.get()).organizations.filter(({ name }) => name === 'Third mill')
            .length,
      };
    },
  },
  {
    name: 'create a service account',
    asks: /^POST \/api\/service-accounts$/,
    field: '/name',
    isWhole: true,
    async begin({ at, ground }) {
      const { page } = await at('/console/organization/keys');
      await press(page, 'New service account');
      await box(page, 'Name').fill('Once');
      await press(page, 'Read only');
      return {
        page,
        press: () => press(page, 'Create the account and its key'),
        kept: () => box(page, 'Name').inputValue(),
        done: async () =>
          (await asOwner(ground).accounts.list({ limit: 200 })).items.filter(({ name }) => name === 'Once')
            .length,
      };
    },
  },
  {
    name: 'change a service account',
    asks: /^PATCH \/api\/service-accounts\//,
    field: '/name',
    async begin(bench) {
      const { owner, account, page } = await ownAccount(bench);
      await press(page, 'Change');
      await box(page, 'Name').fill('Changed');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => box(page, 'Name').inputValue(),
        done: async () => ((await owner.accounts.get(account.id)).name === 'Changed' ? 1 : 0),
      };
    },
  },
  {
    name: 'disable a service account',
    asks: /^PATCH \/api\/service-accounts\//,
    async begin(bench) {
      const { owner, account, page } = await ownAccount(bench);
      await press(page, 'Disable');
      return {
        page,
        press: () => press(page, 'Disable the account'),
        done: async () => ((await owner.accounts.get(account.id)).disabled ? 1 : 0),
      };
    },
  },
  {
    name: 'delete a service account',
    asks: /^DELETE \/api\/service-accounts\/[^/]+$/,
    async begin(bench) {
      const { page, isThere } = await ownAccount(bench);
      await press(page, 'Delete');
      return {
        page,
        press: () => press(page, 'Delete the account'),
        done: async () => ((await isThere()) ? 0 : 1),
      };
    },
  },
  {
    name: 'make a key',
    asks: /^POST \/api\/service-accounts\/[^/]+\/credentials$/,
    isWhole: true,
    async begin(bench) {
      const { owner, account, page } = await ownAccount(bench);
      await press(page, 'New key');
      return {
        page,
        press: () => press(page, 'Make the key'),
        done: async () => (await owner.credentials.list(account.id)).items.length - 1,
      };
    },
  },
  {
    name: 'revoke a key',
    asks: /^DELETE \/api\/service-accounts\/[^/]+\/credentials\//,
    async begin(bench) {
      const { owner, account, credential, page } = await ownAccount(bench);
      await press(page, `Revoke ${credential.id}`);
      return {
        page,
        press: () => press(page, 'Revoke the key'),
        done: async () => ((await owner.credentials.list(account.id)).items[0]!.revoked ? 1 : 0),
      };
    },
  },
  {
    name: 'limit what the organization spends',
    asks: /^PATCH \/api\/settings$/,
    field: '/budgetMicros',
    async begin({ at, ground }) {
      const { page } = await at('/console/organization/usage');
      await press(page, 'Change the limits');
      await box(page, 'Budget of a month, in dollars').fill('987654');
      return {
        page,
        press: () => press(page, 'Save the limits'),
        kept: () => box(page, 'Budget of a month, in dollars').inputValue(),
        done: async () =>
          (await asOwner(ground).settings.getOrganization()).budgetMicros === 987_654_000_000 ? 1 : 0,
      };
    },
  },
  {
    name: 'end all other sessions',
    asks: /^DELETE .*\/sessions\//,
    // Each session is a write of its own.
    isHarmless: true,
    async begin({ at, ground }) {
      const person = { ...KIM, email: 'everywhere@example.test' };
      await joined(ground, person);
      const [here, there] = [await signedIn(ground.base, person), await signedIn(ground.base, person)];
      const { page } = await at('/console/account', here);
      return {
        page,
        press: () => confirm(page, 'End all others', 'End them'),
        done: () =>
          asOwner({ base: ground.base, state: there })
            .session.get()
            .then(
              () => 0,
              () => 1,
            ),
      };
    },
  },
];
