/** The team, its keys, the audit log and usage, driven as an owner does. */
import { readFileSync } from 'node:fs';
import { createClient, HeadraceError } from '@headrace/client';
import type { Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import { asOwner, joined, KIM } from './areas/team/ground.ts';
import { makeApp, untilThread } from './ground.ts';
import type { Site } from './ground.ts';
import { atRest, focused, open, signedIn, tabTo, visitAt } from './page.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';
import { press } from './writes.ts';

const rig = useBrowser();
let site: Site;
beforeAll(() => {
  site = sharedSite();
});

const at = (path: string, state = site.state) => visitAt(rig, path, { base: site.base, state });
/** Other files use the same service, and a run may be repeated. */
const unique = (name: string) => `${name} ${crypto.randomUUID().slice(0, 8)}`;
const address = (name: string) => `${unique(name).replace(' ', '-')}@example.test`;

/** Whatever this browser keeps, and where it stands. */
const KEPT = `(async () => {
  const kept = [{ ...localStorage }, { ...sessionStorage }, location.href, history.state, document.title, document.cookie];
  for (const { name } of await indexedDB.databases()) {
    const db = await new Promise((resolve, reject) =>
      Object.assign(indexedDB.open(name), { onsuccess: ({ target }) => resolve(target.result), onerror: reject }));
    for (const store of db.objectStoreNames)
      kept.push(await new Promise((resolve, reject) =>
        Object.assign(db.transaction(store).objectStore(store).getAll(), { onsuccess: ({ target }) => resolve(target.result), onerror: reject })));
    db.close();
  }
  return JSON.stringify(kept);
})()`;
const SHOWN = `document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map((one) => one.value).join()`;

/** The secret that a dialog shows: neither Escape nor a reload of a part loses it, and nothing keeps it. */
async function shownOnce(page: Page, label: RegExp): Promise<string> {
  const field = page.getByRole('dialog').getByLabel(label).and(page.getByRole('textbox'));
  await field.waitFor();
  const secret = await field.inputValue();
  expect(secret.length).toBeGreaterThan(20);
  await page.keyboard.press('Escape');
  expect(await field.inputValue()).toBe(secret);
  expect(await page.evaluate<string>(KEPT)).not.toContain(secret);
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.evaluate<string>(SHOWN)).not.toContain(secret);
  expect(await page.evaluate<string>(KEPT)).not.toContain(secret);
  return secret;
}

/** Whether a key is accepted. */
async function opens(key: string): Promise<boolean> {
  try {
    await createClient({ baseUrl: site.base, key }).projects.list({ limit: 1 });
    return true;
  } catch (error) {
    if (error instanceof HeadraceError && [401, 403].includes(error.status)) return false;
    throw error;
  }
}

browserTest(
  'a person is invited by the keyboard, joins by the address that is shown once, and leaves',
  async () => {
    const email = address('ann');
    const { page } = await at('/console/organization/team');
    await page.keyboard.press('n');
    await page.getByRole('dialog').getByLabel('E-mail address').waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press('Enter');
    const url = await shownOnce(page, /^Address for /);
    await page.getByRole('list', { name: 'Open invitations' }).getByText(email).waitFor();

    const guest = await rig.visit({ base: site.base });
    guest.allows(/\/api\/session.*: 401/);
    await open(guest, new URL(url).pathname);
    await guest.page.getByLabel('Your name').fill('Ann');
    await guest.page.getByLabel('Password').fill('a long password of Ann');
    await guest.page.getByRole('button', { name: 'Accept the invitation' }).click();
    await guest.page.getByRole('heading', { name: 'Inbox' }).waitFor();
    // The person is removed below, which an open page would notice.
    await guest.close();

    await page.reload();
    const row = page.getByRole('list', { name: 'Members' }).getByRole('listitem').filter({ hasText: email });
    expect(await row.innerText()).toMatch(/Ann[\s\S]*member/);
    await press(page, `Change the role of ${email}`);
    await page.getByRole('dialog').getByText('Admin', { exact: true }).click();
    await press(page, 'Save the role');
    await row.getByText('admin', { exact: true }).waitFor();
    await press(page, `Remove ${email}`);
    await press(page, 'Remove the member');
    await row.waitFor({ state: 'detached' });
    // Not at the start of the page again.
    await expect.poll(() => focused(page)).toMatch(/^button Change the role of |^h2 Members/);
  },
);

browserTest('the team is read page by page, also what is left of it', async () => {
  const emails = [address('pat'), address('quin')];
  for (const email of emails) await asOwner(site).members.invite({ email, role: 'member' });
  await joined(site, { ...KIM, email: address('ray') });
  const visit = await rig.visit({ base: site.base, state: site.state });
  await visit.page.route(/\/api\/(members|invitations)\?/, (route) =>
    route.continue({ url: route.request().url().replace('limit=200', 'limit=1') }),
  );
  await open(visit, '/console/organization/team');
  for (const name of ['Members', 'Open invitations']) {
    const section = visit.page.locator('section').filter({ hasText: name });
    const rows = section.getByRole('list', { name }).getByRole('listitem');
    expect(await rows.count()).toBe(1);
    await section.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => rows.count()).toBe(2);
  }
});

browserTest('a member reads the list, and no more', async () => {
  const email = address('kim');
  await joined(site, { ...KIM, email });
  const state = await signedIn(site.base, { email, password: KIM.password });
  const visit = await at('/console/organization/team', state);
  visit.allows(/: 403$/);
  const { page } = visit;
  await page.getByRole('list', { name: 'Members' }).getByText(email).waitFor();
  expect(
    await page.getByRole('button', { name: /Invite|Change the role|Remove|Delete|Create/ }).count(),
  ).toBe(0);
  expect(await page.getByText('Open invitations').count()).toBe(0);
  for (const path of ['keys', 'audit']) {
    await open(visit, `/console/organization/${path}`);
    await page.getByText('Not here').waitFor();
    expect(await page.getByRole('button', { name: /New service account/ }).count()).toBe(0);
  }
  await open(visit, '/console/organization/usage');
  expect(await page.getByText('Limits').count()).toBe(0);
});

browserTest('an organization is created, keeps its last owner, and is deleted by its name', async () => {
  const name = unique('Mill');
  // A session of its own: the organization is the session's.
  const state = await signedIn(site.base);
  const visit = await at('/console/organization/team', state);
  // The stream of one that is left or deleted may end before the page does, and come back with its cursor.
  visit.allows(/^PATCH .*: 409$/, /events\/stream: 40[034]$/);
  const { page } = visit;
  await press(page, 'Create an organization');
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.keyboard.press('Enter');
  await press(page, `Switch to ${name}`);
  await page.getByRole('navigation', { name: 'Console' }).getByText(name).waitFor();
  await open(visit, '/console/organization/team');
  await press(page, /^Change the role of /);
  await page.getByRole('dialog').getByText('Member', { exact: true }).click();
  await press(page, 'Save the role');
  await page.getByText(/^Not possible now: .*owner/).waitFor();
  await page.keyboard.press('Escape');
  await press(page, 'Delete the organization');
  const dialog = page.getByRole('dialog');
  const verb = dialog.getByRole('button', { name: 'Delete the organization' });
  expect(await verb.getAttribute('aria-disabled')).toBe('true');
  await dialog.getByLabel('The organization’s name').fill(name);
  await verb.click();
  await page.getByRole('navigation', { name: 'Console' }).getByText(name).waitFor({ state: 'detached' });
  await atRest(visit);
  expect((await asOwner(site).session.get()).organizations.map((one) => one.name)).not.toContain(name);
});

browserTest('a service account by the keyboard: its key is shown once and opens what it may', async () => {
  const name = unique('Backend');
  const app = await makeApp(site.client, unique('Shop'));
  const { page } = await at('/console/organization/keys');
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).waitFor();
  await page.keyboard.type(name);
  await tabTo(page, /^button Read only/);
  await page.keyboard.press('Enter');
  const webhooks = dialog.getByRole('group', { name: 'Webhooks' });
  expect(await webhooks.getByRole('checkbox', { name: 'read' }).isChecked()).toBe(true);
  await webhooks.getByText('Webhooks').click();
  await webhooks.getByText('Webhooks').click();
  expect(await webhooks.getByRole('checkbox', { name: 'read' }).isChecked()).toBe(false);
  await dialog.getByText('Only chosen ones').click();
  await dialog.getByLabel('Find by name').fill(app.id);
  await dialog.getByRole('list', { name: 'Apps and projects' }).locator('label').click();
  await press(page, 'Create the account and its key');
  const key = await shownOnce(page, /^Key$/);
  const client = createClient({ baseUrl: site.base, key });
  expect((await client.projects.list()).items.map(({ id }) => id)).toEqual([app.id]);
  const saved = (await asOwner(site).accounts.list()).items.find((one) => one.name === name)!;
  expect(saved.projectIds).toEqual([app.id]);
  expect(saved.permissions).toEqual({
    project: ['read'],
    thread: ['read'],
    repo: ['read'],
    mcpServer: ['read'],
    modelKey: ['read'],
    usage: ['read'],
    automation: ['read'],
  });
});

browserTest('a key is rotated by three clicks, and the former one is revoked after that', async () => {
  const name = unique('Rotating');
  const { key: former, credential } = await asOwner(site).accounts.create({
    name,
    permissions: { project: ['read'] },
  });
  expect(await opens(former!)).toBe(true);
  const { page } = await at('/console/organization/keys');
  await page.getByRole('link', { name }).click();
  await press(page, 'New key');
  await press(page, 'Make the key');
  const next = await shownOnce(page, /^Key$/);
  expect([await opens(former!), await opens(next)]).toEqual([true, true]);
  const rows = page.getByRole('list', { name: 'Keys' }).getByRole('listitem');
  await expect.poll(() => rows.count()).toBe(2);
  expect(await rows.nth(1).innerText()).toMatch(/valid[\s\S]*used/);
  await press(page, `Revoke ${credential.id}`);
  await press(page, 'Revoke the key');
  await rows.nth(1).getByText('revoked').waitFor();
  expect([await opens(former!), await opens(next)]).toEqual([false, true]);
  await press(page, 'Disable');
  await press(page, 'Disable the account');
  await page.getByText('all of its keys are refused').waitFor();
  expect(await opens(next)).toBe(false);
});

/** Requests of this method at this path wait for `go`, then the answer is lost if `isLost`. */
async function hold(page: Page, at: string | RegExp, { isLost = false } = {}) {
  const { promise, resolve: go } = Promise.withResolvers<void>();
  const keys: string[] = [];
  await page.route(at, async (route) => {
    const asked = route.request();
    if (asked.method() !== 'POST') return route.continue();
    keys.push(asked.headers()['idempotency-key']!);
    await promise;
    if (!isLost) return route.continue();
    await route.fetch();
    await route.abort();
  });
  return { go, keys };
}

browserTest('a secret on its way holds its dialog, and only that one', async () => {
  const { account } = await asOwner(site).accounts.create({ name: unique('Held'), permissions: {} });
  const { page } = await at(`/console/organization/keys/${account.id}`);
  const { go } = await hold(page, '**/credentials');
  await press(page, 'New key');
  await press(page, 'Make the key');
  const dialog = page.getByRole('dialog');
  const cancel = dialog.getByRole('button', { name: 'Cancel' });
  await expect.poll(() => cancel.isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  expect(await cancel.count()).toBe(1);
  go();
  const key = await shownOnce(page, /^Key$/);
  expect(key).toMatch(/^\S+$/);
  await press(page, 'Disable');
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

browserTest('what may have been made is not made twice by a dialog opened again', async () => {
  const email = address('sam');
  const name = unique('Twice');
  const visit = await at('/console/organization/team');
  visit.allows(/ERR_FAILED/);
  const { page } = visit;
  const dialog = page.getByRole('dialog');
  /** Sent without an answer, closed, and sent again from a new dialog. */
  const twice = async (path: string | RegExp, verb: string, again: string) => {
    const { go, keys } = await hold(page, path, { isLost: true });
    go();
    await press(page, verb);
    await dialog.getByText(/may have done it|Check the connection/).waitFor({ timeout: 20_000 });
    await page.unroute(path);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await press(page, again);
    const asked = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().includes('/api/'),
    );
    await press(page, verb);
    expect((await asked).headers()['idempotency-key']).toBe(keys[0]);
    await dialog.getByRole('button', { name: /^(Close|I have saved it)$/ }).click();
  };
  await press(page, 'Invite a person');
  await dialog.getByLabel('E-mail address').fill(email);
  await twice(/\/api\/members$/, 'Invite', 'Invite a person');
  await open(visit, '/console/organization/keys');
  await press(page, 'New service account');
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
  await twice(/\/api\/service-accounts$/, 'Create the account and its key', 'New service account');
  const owner = asOwner(site);
  expect(
    (await owner.invitations.list({ limit: 200 })).items.filter((one) => one.email === email).length,
  ).toBe(1);
  expect((await owner.accounts.list({ limit: 200 })).items.filter((one) => one.name === name).length).toBe(1);
});

browserTest('an account whose saver is gone is saved as it stands, and its key works again', async () => {
  const email = address('tess');
  await joined(site, { ...KIM, email }, 'admin');
  const state = await signedIn(site.base, { email, password: KIM.password });
  const { account, key } = await asOwner({ base: site.base, state }).accounts.create({
    name: unique('Orphan'),
    permissions: { project: ['read'] },
  });
  expect(await opens(key!)).toBe(true);
  const owner = asOwner(site);
  const { userId } = (await owner.members.list({ limit: 200 })).items.find((one) => one.email === email)!;
  await owner.members.remove(userId);
  expect(await opens(key!)).toBe(false);
  const { page } = await at(`/console/organization/keys/${account.id}`);
  await press(page, 'Change');
  await press(page, 'Save');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await opens(key!)).toBe(true);
});

browserTest('keys that were not read are said, and read on demand', async () => {
  const { account } = await asOwner(site).accounts.create({ name: unique('Unread'), permissions: {} });
  const visit = await rig.visit({ base: site.base, state: site.state });
  visit.allows(/: 403$/);
  const { page } = visit;
  const path = new RegExp(`/service-accounts/${account.id}/credentials`);
  await page.route(path, (route) => route.fulfill({ status: 403, json: { ok: false } }));
  await open(visit, '/console/organization/keys');
  const row = page.getByRole('link', { name: account.name });
  await row.getByText('keys not read').waitFor();
  await page.unroute(path);
  await press(page, 'Try again');
  await row.getByText('1 valid key').waitFor();
  await page.getByText('keys not read').waitFor({ state: 'detached' });
});

browserTest('only a changed limit is sent: the other may be another one by now', async () => {
  const owner = asOwner(site);
  const before = await owner.settings.getOrganization();
  const { page } = await at('/console/organization/usage');
  await press(page, 'Change the limits');
  const dialog = page.getByRole('dialog');
  const save = dialog.getByRole('button', { name: 'Save the limits' });
  expect(await save.getAttribute('aria-disabled')).toBe('true');
  await dialog.getByLabel('Limit of a new thread, in dollars').fill('77.5');
  await owner.settings.updateOrganization({ budgetMicros: 999_000_000_000 });
  await save.click();
  await dialog.waitFor({ state: 'detached' });
  const { budgetMicros, spendLimitMicros } = await owner.settings.getOrganization();
  await owner.settings.updateOrganization({
    budgetMicros: before.budgetMicros,
    spendLimitMicros: before.spendLimitMicros,
  });
  expect([budgetMicros, spendLimitMicros]).toEqual([999_000_000_000, 77_500_000]);
});

browserTest('the audit log names who did what, is narrowed, and is saved', async () => {
  const name = unique('=Audited');
  const { account } = await asOwner(site).accounts.create({ name, permissions: {} });
  const visit = await at(`/console/organization/audit?query=${account.id}`);
  const { page } = visit;
  const rows = page.getByRole('region', { name: 'Audit log' }).locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.innerText()).toMatch(/Owner\s+Service account created service_account\.created/);
  expect(await page.getByRole('status').filter({ hasText: 'loaded' }).innerText()).toMatch(
    /^1 entry of the \d+ that are loaded\. The service does not search/,
  );
  const saving = page.waitForEvent('download');
  await press(page, 'Save as CSV');
  const text = readFileSync(await (await saving).path(), 'utf8');
  const [head, line, ...rest] = text.split('\r\n');
  expect(head).toBe('createdAt,action,actorId,actor,targetId,target,address,id');
  expect(line).toContain(`,service_account.created,`);
  expect(line).toContain(`,Owner,${account.id},'${name},`);
  expect(rest).toEqual(['']);
  await rows.getByRole('link', { name }).click();
  await page.getByRole('heading', { name }).waitFor();
});

browserTest(
  'usage of a thread is found, its total is that of the days, and wrong days are said',
  async () => {
    const app = await makeApp(site.client, unique('Used'));
    const { thread } = await site.client.threads.create(app.id, {
      title: unique('Counted'),
      message: { content: 'Hello.' },
    });
    const { latestRunId } = await untilThread(
      site.client,
      app,
      thread.id,
      (now) => now.latestRunId !== null && now.status === 'ready',
    );
    const run = await site.client.runs.get(app.id, thread.id, latestRunId!);
    const visit = await at('/console/organization/usage');
    const { page } = visit;
    await page
      .getByRole('img', { name: /by day from/ })
      .locator('canvas')
      .waitFor();
    const table = page.getByRole('region', { name: 'Usage' });
    const runs = async () =>
      Number((await table.getByRole('row', { name: /^Total/ }).innerText()).split(/\s+/)[1]);
    expect(await runs()).toBeGreaterThan(0);
    await table.getByRole('link', { name: run.createdAt.slice(0, 10) }).click();
    await table.getByRole('link', { name: thread.title! }).waitFor();
    expect(new URL(page.url()).searchParams.get('groupBy')).toBe('thread');
    const saving = page.waitForEvent('download');
    await press(page, 'Save as CSV');
    const text = readFileSync(await (await saving).path(), 'utf8');
    expect(text).toContain(`${thread.id},${app.id},1,`);
    await open(visit, '/console/organization/usage?from=2026-02-03&to=2026-02-01');
    await page.getByText('The last day is before the first.').waitFor();
    await open(visit, '/console/organization/usage?from=2001-01-01&to=2001-01-31');
    await page.getByText('Nothing was used in this time').waitFor();
  },
);

browserTest('all other sessions end at once, and this one stays', async () => {
  const email = address('lou');
  await joined(site, { ...KIM, email });
  const sign = () => signedIn(site.base, { email, password: KIM.password });
  const [here] = [await sign(), await sign()];
  const { page } = await at('/console/account', here);
  const rows = page.getByRole('list', { name: 'Open sessions' }).getByRole('listitem');
  // Also that of the invitation.
  expect(await rows.count()).toBe(3);
  await press(page, 'End all others');
  await press(page, 'End them');
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.innerText()).toContain('this one');
  await expect.poll(() => focused(page)).toBe('h2 Open sessions');
});
