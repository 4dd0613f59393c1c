/** Pull requests of threads and their review loops, by hand. */
import { beforeAll, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { isObserving, panelOf } from './areas/reviews/writes.ts';
import * as made from './areas/reviews/ground.ts';
import type { Site } from './ground.ts';
import { visitAt } from './page.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';

const rig = useBrowser();
let site: Site;
beforeAll(() => {
  site = sharedSite();
});

const at = (path: string) => visitAt(rig, path, { base: site.base, state: site.state });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click();
const main = (page: Page) => page.locator('main').innerText();

browserTest('from a change to the merge, by hand', async () => {
  const { client } = site;
  const project = await made.newGarden(client, 'By hand');
  const thread = await made.changedThread(client, project, { title: 'Water the roses' });
  const { page } = await at(panelOf({ project, threadId: thread.id }));
  await field(page, 'Text').fill('They were **dry**.');
  await page.reload();
  await press(page, 'Open the pull request');
  await page.getByRole('heading', { name: 'Water the roses', level: 2 }).waitFor();
  const [{ id } = { id: '' }] = (await client.pullRequests.list(thread.id)).items;
  const now = () => client.pullRequests.get(thread.id, id);
  expect(await now()).toMatchObject({ body: 'They were **dry**.', state: 'open' });
  await press(page, 'Edit');
  await field(page, 'Title').fill('Water all roses');
  await press(page, 'Save');
  await page.getByRole('heading', { name: 'Water all roses' }).waitFor();
  await press(page, 'Merge');
  await page.getByText('Squash', { exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Merge', exact: true }).click();
  await page.getByText('Merged into main. The thread is sealed.').waitFor();
  expect(await now()).toMatchObject({ state: 'merged', title: 'Water all roses' });
  expect(await main(page)).toMatch(/merged/);
});

browserTest('a divergence ends by the side that is taken', async () => {
  const { client } = site;
  const opened = await made.diverged(client, await made.newGarden(client, 'Two sides'));
  const { page } = await at(panelOf(opened));
  expect(await main(page)).toMatch(
    /Commits of others conflict with the thread’s in one path\.[\s\S]*plants\.txt/,
  );
  await press(page, 'Choose whose files count');
  await page.getByText('The thread’s', { exact: true }).click();
  await press(page, 'Take the thread’s files');
  await page.getByText('Taken. The push goes on.').waitFor();
  const pull = await made.untilPull(client, opened, ({ push }) => push.status === 'current');
  expect(pull.headSha).not.toBe(opened.pull.headSha);
});

browserTest('a loop that is stuck is found in the inbox and in the list, and started again', async () => {
  const { client } = site;
  const project = await made.newGarden(client, 'Stuck');
  const opened = await made.blockedMeanwhile(client, project);
  const { number, title } = opened.pull;
  const { page } = await at('/console/');
  const row = page.locator('main').getByText(`Pull request ${number}: ${title}`).locator('../..');
  await row.first().waitFor();
  expect(await main(page)).toContain('The agent is the scripted one and has no script.');
  await page.goto(`/console/pull-requests?projectId=${project.id}`);
  await page.locator('main').getByRole('link', { name: title }).waitFor();
  // The address has the project and the state.
  await press(page, 'Merged');
  await page.getByText('No pull request is merged').waitFor();
  expect(new URL(page.url()).search).toBe(`?projectId=${project.id}&state=merged`);
  await press(page, 'Open');
  await page.locator('main').getByRole('link', { name: title }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await press(page, 'Start the loop again');
  await made.untilPull(client, opened, isObserving);
  await page.locator('label').filter({ hasText: 'Drive it to green' }).click();
  await page.getByText('A person switched it off.').waitFor();
  expect((await made.pullNow(client, opened)).reviewLoop).toMatchObject({
    enabled: false,
    disabledBy: 'user',
  });
});

browserTest('a branch that moved is not merged unseen', async () => {
  const { client } = site;
  const project = await made.newGarden(client, 'Moved');
  const opened = await made.openPull(client, project, { title: 'Water the roses' });
  const visit = await at(panelOf(opened));
  visit.allows(/\/merge: 409$/);
  const { page } = visit;
  await press(page, 'Merge');
  await page.getByRole('dialog').waitFor();
  await made.push(client, opened);
  await page.getByRole('dialog').getByRole('button', { name: 'Merge', exact: true }).click();
  await page.getByText('Others have pushed, or the thread has. Look at what is new first.').waitFor();
  await press(page, 'Look at the branch again');
  await press(page, 'Merge this one');
  await page.getByRole('dialog').getByRole('button', { name: 'Merge', exact: true }).click();
  await page.getByText('Merged into main. The thread is sealed.').waitFor();
});

browserTest('what the branch does not hold is said before a merge leaves it out', async () => {
  const { client } = site;
  const opened = await made.behind(client, await made.newGarden(client, 'Behind'));
  const { page } = await at(panelOf(opened));
  await page.getByText('The thread has newer files that are not pushed').waitFor();
  await press(page, 'Merge');
  await page
    .getByText('The thread has files that are not on the branch: a merge now leaves them out.')
    .waitFor();
  await field(page, 'First line of the commit').fill('Roses');
  await page.getByText('Rebase', { exact: true }).click();
  const asked = page.waitForRequest(/\/merge$/);
  await page.getByRole('dialog').getByRole('button', { name: 'Merge', exact: true }).click();
  // A rebase makes no commit that the title could be of.
  expect((await asked).postDataJSON()).toEqual({ method: 'rebase', expectedHeadSha: opened.pull.headSha });
  await page.getByText('Merged into main. The thread is sealed.').waitFor();
});

browserTest('one that another thread has taken over offers nothing that would be refused', async () => {
  const { client } = site;
  const project = await made.newGarden(client, 'Handed on');
  const opened = await made.openPull(
    client,
    project,
    { title: 'Water the roses' },
    { reviewLoop: { enabled: true } },
  );
  const other = await made.changedThread(client, project, { title: 'Go on', path: 'herbs.txt' });
  await client.pullRequests.create(other.id, { number: opened.pull.number });
  const { page } = await at(panelOf(opened));
  await page.getByText('Another thread pushes to the branch').waitFor();
  expect(await main(page)).toContain('Another thread has taken over the pull request.');
  const offers = page
    .locator('main')
    .getByText(/^(Update the branch|Drive it to green|Push each newer change.*)$/);
  expect(await offers.count()).toBe(0);
});
