/** Repositories in the browser: GitHub is connected with a secret shown once, and a change goes from a branch to a merge. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  ALL_PERMISSIONS,
  startGithubStandIn,
} from '../../packages/server/src/scm/github/stand-in.fixture.ts';
import type { GithubStandIn } from '../../packages/server/src/scm/github/stand-in.fixture.ts';
import {
  asOwner,
  connectApp,
  makeRepository,
  pullOf,
  push,
  WEBHOOK_SECRET,
} from './areas/repositories/ground.ts';
import { choose, folderOf } from './folders.ts';
import type { Site } from './ground.ts';
import { atRest, faultsOfLook, tabTo, textOf, visitAt } from './page.ts';
import type { Visit } from './browser.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';
import { press } from './writes.ts';

const rig = useBrowser();
const LIST = '/console/organization/repositories';
let site: Site;
let github: GithubStandIn;
let scratch: string;

beforeAll(async () => {
  site = sharedSite();
  github = await startGithubStandIn();
  await github.makeRepository({ name: 'flow-shop' });
  scratch = mkdtempSync(join(tmpdir(), 'headrace-repositories-'));
});
afterAll(async () => {
  await github?.close();
  rmSync(scratch, { recursive: true, force: true });
});

const at = (path: string) => visitAt(rig, path, site);
const inDialog = ({ page }: Visit, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const field = ({ page }: Visit, name: string) => page.getByRole('textbox', { name, exact: true });

const focused = (page: Visit['page']) => page.evaluate<string>('document.activeElement.textContent');

/** Everywhere that outlives the page's own memory. */
const kept = ({ page }: Visit) =>
  page.evaluate<string>(
    `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])`,
  );

/** What the dialog shows of GitHub's stand-in, filled in. */
async function openConnect(visit: Visit, name: string): Promise<void> {
  await press(visit.page, 'Connect GitHub');
  await visit.page.getByText('GitHub Enterprise Server', { exact: true }).click();
  await field(visit, 'Address of its API').fill(github.baseUrl);
  await field(visit, 'Name').fill(name);
}

browserTest('an App is connected; its webhook secret is shown once and kept nowhere', async () => {
  const visit = await at(LIST);
  const { page } = visit;
  visit.allows(/^POST .*installations: 400$/);
  await openConnect(visit, 'Flow app');
  await field(visit, 'App ID').fill(github.app.appId);
  await field(visit, 'Installation id').fill(
    `https://github.com/organizations/acme/settings/installations/${github.app.installationId}`,
  );
  await field(visit, 'Private key (PEM)').fill('no key');
  await inDialog(visit, 'Try it and connect');
  await page.getByText('This is no private key in PEM').waitFor();
  const pem = join(folderOf(join(scratch, 'keys'), { 'app.pem': github.app.privateKey }), 'app.pem');
  await page.getByLabel('The .pem file').setInputFiles(pem);
  await expect.poll(() => field(visit, 'Private key (PEM)').inputValue()).toBe(github.app.privateKey);
  await inDialog(visit, 'Try it and connect');
  const dialog = page.getByRole('dialog', { name: 'Connected: now the webhook' });
  await dialog.waitFor();
  const secret = (await dialog.getByLabel('Secret', { exact: true }).innerText()).trim();
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  const url = await dialog.getByLabel('Webhook URL', { exact: true }).innerText();
  expect(url).toMatch(/\/api\/source-control\/scm\/webhooks\/ins_\w+$/);
  await page.keyboard.press('Escape');
  expect(await dialog.count()).toBe(1);
  // For some seconds, the hidden announcer of a pending button names the one that is gone.
  const faults = (await faultsOfLook(visit)).filter((fault) => !fault.startsWith('role-img-alt'));
  expect(faults).toEqual([]);
  await dialog.getByText('No delivery with this secret has arrived yet').waitFor();
  const answer = await github.deliver(url, { secret, event: 'ping', payload: {} });
  expect(answer.status).toBe(202);
  await dialog.getByText('Deliveries arrive').waitFor();
  await inDialog(visit, 'Done');
  await page.getByRole('heading', { name: 'Flow app' }).waitFor();
  await atRest(visit);
  for (const hidden of [secret, github.app.privateKey.slice(40, 80)]) {
    expect(await kept(visit)).not.toContain(hidden);
    expect(await page.content()).not.toContain(hidden);
  }
  await page.goBack();
  await page.goForward();
  await atRest(visit);
  expect(await page.content()).not.toContain(secret);
  await page.getByText('Those that it sees').click();
  await page.getByRole('link', { name: /acme\/flow-shop/ }).waitFor();
});

browserTest('a token that is refused is said at its field, and stays', async () => {
  const visit = await at(LIST);
  const { page } = visit;
  visit.allows(/^POST .*installations: 400$/);
  await openConnect(visit, 'Flow token');
  await page.getByText('A personal access token', { exact: true }).click();
  const token = page.getByLabel('Token', { exact: true });
  await token.fill('ghp_wrong');
  await press(page, 'Show as curl, TypeScript and command line');
  expect(await page.getByLabel('curl', { exact: true }).innerText()).not.toContain('ghp_wrong');
  await page.keyboard.press('Escape');
  await inDialog(visit, 'Try it and connect');
  await page.getByText('GitHub refuses this token').waitFor();
  expect(await token.getAttribute('aria-invalid')).toBe('true');
  expect(await token.inputValue()).toBe('ghp_wrong');
  expect(await kept(visit)).not.toContain('ghp_wrong');
});

browserTest('an installation gets a new secret, is read again and is deleted', async () => {
  const made = await connectApp(site, github, 'Flow renewed');
  const first = await github.deliver(made.webhookUrl!, {
    secret: WEBHOOK_SECRET,
    event: 'ping',
    payload: {},
  });
  expect(first.status).toBe(202);
  const visit = await at(`/console/organization/installations/${made.id}`);
  const { page } = visit;
  await page.getByText('Last delivery').waitFor();
  await press(page, 'New webhook secret');
  const dialog = page.getByRole('dialog');
  await inDialog(visit, 'Show as curl, TypeScript and command line');
  const curl = await page.getByLabel('curl', { exact: true }).innerText();
  expect(curl).toContain('-H "cookie: $COOKIE"');
  expect(curl).not.toContain('x-api-key');
  await page.keyboard.press('Escape');
  await page.getByLabel('curl', { exact: true }).waitFor({ state: 'detached' });
  // While it is made, nothing closes the dialog.
  let answer = () => {};
  await page.route(/\/installations\/ins_[^/]+$/, async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    await new Promise<void>((resolve) => (answer = resolve));
    return route.continue();
  });
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await inDialog(visit, 'Set a new secret');
  await sent;
  const cancel = dialog.getByRole('button', { name: 'Cancel' });
  await expect.poll(() => cancel.isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  expect(await cancel.isDisabled()).toBe(true);
  answer();
  await dialog.getByText('No delivery with this secret has arrived yet').waitFor();
  const secret = (await dialog.getByLabel('Secret', { exact: true }).innerText()).trim();
  const arrived = await github.deliver(made.webhookUrl!, { secret, event: 'ping', payload: {} });
  expect(arrived.status).toBe(202);
  await dialog.getByText('Deliveries arrive').waitFor();
  await inDialog(visit, 'Done');
  await dialog.waitFor({ state: 'detached' });
  expect((await page.content()) + (await kept(visit))).not.toContain(secret);
  await press(page, 'Read the repositories again');
  await page.getByText('The repositories are read.').waitFor();
  expect((await site.client.scm.getInstallation(made.id)).syncedAt).not.toBe(made.syncedAt);
  visit.allows(/: 404$/);
  await press(page, 'Delete');
  await inDialog(visit, 'Delete the installation');
  await page.getByRole('heading', { name: 'Repositories', level: 1 }).waitFor();
  expect((await site.client.scm.listInstallations()).items.map(({ id }) => id)).not.toContain(made.id);
});

browserTest('a folder becomes a repository by the keyboard, with the commands to clone it', async () => {
  const visit = await at(LIST);
  const { page } = visit;
  await page.keyboard.press('n');
  await page.getByRole('dialog', { name: 'New repository' }).waitFor();
  await page.keyboard.type('Flow Site');
  await page.getByText(/^Lower-case letters/).waitFor();
  await field(visit, 'Name').fill('flow-site');
  await choose(page, folderOf(join(scratch, 'flow'), { 'README.md': '# Flow\n', '.git/config': '' }));
  await page.getByText('becomes the first commit: 1 file').waitFor();
  await tabTo(page, /Create the repository/);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'flow-site', level: 1 }).waitFor();
  await page.getByText('1 file, 7 B').waitFor();
  expect(await textOf(page, 'main')).toContain('headrace repos clone flow-site');
  expect(await textOf(page, 'main')).toMatch(
    /git clone "http:\/\/key:\$HEADRACE_KEY@.*\/git\/flow-site\.git"/,
  );
});

browserTest('a branch is reviewed, refused in words, and merged', async () => {
  const repository = await makeRepository(site, 'flow-review');
  await push(site, repository, { branch: 'fix-page', path: 'src/page.ts', content: 'export {};\n' });
  await site.client.scm.updateRepository(repository.id, { requiredChecks: ['ci'] });
  const visit = await at(`${LIST}/${repository.id}?part=pull-requests`);
  const { page } = visit;
  visit.allows(/: 409$/);
  await page.keyboard.press('n');
  await page.getByRole('combobox', { name: 'Branch with the changes' }).fill('fix-');
  await page.getByRole('option', { name: /^fix-page/ }).click();
  await field(visit, 'Title').fill('Fix <b>the page</b>');
  await inDialog(visit, 'Open the pull request');
  await page.getByRole('heading', { name: 'Fix <b>the page</b>' }).waitFor();
  await field(visit, 'New comment').fill('Is it tested?');
  await field(visit, 'File').fill('src/page.ts');
  await page.getByLabel('Line', { exact: true }).fill('1');
  await press(page, 'Comment');
  const thread = page.getByRole('list', { name: 'Review threads' }).getByRole('listitem').first();
  await thread.getByText('src/page.ts:1').waitFor();
  await thread.getByRole('button', { name: 'Reply' }).click();
  await field(visit, 'Reply').fill('It is now.');
  await press(page, 'Send the reply');
  await thread.getByText('It is now.').waitFor();
  await expect.poll(() => focused(page)).toBe('Reply');
  await thread.getByRole('button', { name: 'Resolve' }).click();
  await thread.getByText('resolved', { exact: true }).waitFor();
  await press(page, 'Merge');
  await inDialog(visit, 'Merge it');
  await page.getByText(/Not possible now: A required check has not succeeded/).waitFor();
  await inDialog(visit, 'Cancel');
  await press(page, 'Report a check');
  await inDialog(visit, 'Report it');
  await page.getByText('Nothing stands in its way').waitFor();
  await press(page, 'Merge');
  await page.getByRole('dialog').getByText('squash', { exact: true }).click();
  await inDialog(visit, 'Merge it');
  await page.getByText('merged', { exact: true }).waitFor();
  const [pull] = (await site.client.scm.listPullRequests(repository.id)).items;
  expect(pull).toMatchObject({ state: 'merged', title: 'Fix <b>the page</b>' });
  expect(await page.getByRole('button', { name: 'Close' }).count()).toBe(0);
  await expect.poll(() => focused(page)).toContain('Fix <b>the page</b>');
});

browserTest('what is pushed while the dialog is open is not merged', async () => {
  const { repository, number } = await pullOf(site, 'flow-moved');
  const visit = await at(`${LIST}/${repository.id}/pull-requests/${number}`);
  const { page } = visit;
  await page.getByText('Nothing stands in its way').waitFor();
  await press(page, 'Merge');
  const seen = (await site.client.scm.getPullRequest(repository.id, String(number))).headSha;
  await page.getByRole('dialog').getByText(seen.slice(0, 10)).waitFor();
  await push(site, repository, { branch: 'fix-page', path: 'src/page.ts', content: 'export default 1;\n' });
  await page
    .getByRole('dialog')
    .getByText(/^The branch has moved to/)
    .waitFor({ timeout: 15_000 });
  const merge = page.getByRole('dialog').getByRole('button', { name: 'Merge it' });
  expect(await merge.getAttribute('aria-disabled')).toBe('true');
  const { state } = await site.client.scm.getPullRequest(repository.id, String(number));
  expect(state).toBe('open');
  await inDialog(visit, 'Cancel');
  await press(page, 'Merge');
  await inDialog(visit, 'Merge it');
  await page.getByText('merged', { exact: true }).waitFor();
});

browserTest('what others change meanwhile is not changed back', async () => {
  const { repository, number } = await pullOf(site, 'flow-both');
  const visit = await at(`${LIST}/${repository.id}/pull-requests/${number}`);
  const { page } = visit;
  await press(page, 'Edit');
  await site.client.scm.updatePullRequest(repository.id, String(number), { title: 'Their title' });
  await page.locator('main h1').getByText('Their title').waitFor({ state: 'attached', timeout: 15_000 });
  await field(visit, 'Text').fill('My text');
  await inDialog(visit, 'Save');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await site.client.scm.getPullRequest(repository.id, String(number))).toMatchObject({
    title: 'Their title',
    body: 'My text',
  });
});

browserTest('of a host that is away: it is said, with the installation and how its sync ended', async () => {
  const host = await startGithubStandIn();
  await host.makeRepository({ name: 'flow-away' });
  const made = await connectApp(site, host, 'Flow away');
  const { items } = await site.client.scm.listRepositories({ installationId: made.id });
  await host.close();
  const visit = await at(LIST);
  const { page } = visit;
  visit.allows(/: 503$/);
  // Its further tries get the same answer at once: the client would wait for half a minute.
  let said: { status: number; body: string } | null = null;
  await page.route(/\/branches\?/, async (route) => {
    if (said === null) {
      const response = await route.fetch();
      said = { status: response.status(), body: await response.text() };
    }
    await route.fulfill({ ...said, contentType: 'application/json' });
  });
  await page.goto(`${LIST}/${items[0]!.id}?part=branches`);
  await page.getByText('The host does not answer').waitFor({ timeout: 20_000 });
  await page.getByRole('link', { name: 'The installation' }).click();
  await page.getByText('error', { exact: true }).waitFor();
  // The error is known already.
  await press(page, 'Read the repositories again');
  await page.getByText('The repositories could not be read').waitFor({ timeout: 20_000 });
});

browserTest('a pull request of a thread leads to the thread and its changes', async () => {
  const repository = await makeRepository(site, 'flow-thread');
  const { id: projectId } = await site.client.projects.create({
    name: 'Flow garden',
    repositoryId: repository.id,
  });
  const { thread } = await site.client.threads.createDirect({ projectId, title: 'Water the plants' });
  const latest = async () =>
    (await site.client.threads.listDirect({ projectId })).items.find(({ id }) => id === thread.id)!;
  await expect.poll(async () => (await latest()).status, { timeout: 20_000 }).toBe('ready');
  await asOwner(site, 'POST', `/api/threads/${thread.id}/edits`, {
    expectedSourceId: (await latest()).latestSourceId,
    changes: [{ path: 'plants.txt', content: 'fern\n' }],
  });
  const { number } = await site.client.pullRequests.create(thread.id);
  const visit = await at(`${LIST}/${repository.id}/pull-requests/${number}`);
  const { page } = visit;
  await page.getByRole('link', { name: 'the changes' }).click();
  await page.waitForURL(`**/console/apps/${projectId}/threads/${thread.id}?panel=changes`);
  await atRest(visit);
});

browserTest('of GitHub: what it lacks is said, and its review is there', async () => {
  await connectApp(site, github, 'Flow host');
  const { items } = await site.client.scm.listRepositories({ query: 'flow-shop' });
  const { id, url } = items[0]!;
  const { contents: _, ...lacking } = ALL_PERMISSIONS;
  const visit = await at(`${LIST}/${id}?part=pull-requests`);
  const { page } = visit;
  const link = page.getByRole('link', { name: 'Its pull requests at GitHub' });
  expect(await link.getAttribute('href')).toBe(`${url}/pulls`);
  await page.goto(`${LIST}/${id}/pull-requests/7`);
  expect(await page.getByRole('link', { name: 'Its pull requests at GitHub' }).getAttribute('href')).toBe(
    `${url}/pull/7`,
  );
  visit.allows(/: 409$/);
  github.permissions = lacking;
  github.revoke();
  try {
    await page.goto(`${LIST}/${id}?part=branches`);
    await page.getByText('the credential lacks the permission “contents=read”').waitFor();
    await page.getByRole('link', { name: 'The installation' }).waitFor();
  } finally {
    github.permissions = { ...ALL_PERMISSIONS };
    github.revoke();
  }
  await press(page, 'Try again');
  await page.getByText('main', { exact: true }).first().waitFor();
});
