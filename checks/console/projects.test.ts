/** Projects: created by keyboard, with a thread from a branch; their settings; what the pages of apps say of them. */
import { beforeAll, expect } from 'vitest';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import type { Site } from './ground.ts';
import { boundProject, GARDEN, threadOf } from './areas/make-project.ts';
import { atRest, axe, tabTo, visitAt } from './page.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';
import { choose, press } from './writes.ts';

const rig = useBrowser();
let site: Site;
beforeAll(() => {
  site = sharedSite();
});

const at = (path: string) => visitAt(rig, `/console/${path}`, { base: site.base, state: site.state });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const branches = (page: Page) => page.getByRole('combobox', { name: /branch/ });
/** What the samples behind the first button for them say. */
async function samples(page: Page): Promise<string> {
  const button = page.getByRole('button', { name: 'Show as curl, TypeScript and command line' });
  await button.last().click();
  const dialog = page.getByRole('dialog', { name: 'The same by code' });
  await dialog.waitFor();
  const said = await dialog.innerText();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  return said;
}

browserTest(
  'by the keyboard: a project of a repository, then a thread from one of its branches',
  async () => {
    const { client } = site;
    const repository = await client.scm.createRepository({
      // Other files make orchards, too.
      name: 'orchard-by-keys',
      files: GARDEN,
      message: 'Plant',
    });
    const visit = await at('projects');
    const { page } = visit;
    await page.keyboard.press('n');
    await page.getByRole('dialog', { name: 'Create a project' }).waitFor();
    await page.keyboard.type('Orchard by keys');
    await tabTo(page, /Repository/);
    await page.keyboard.type('orchard-by');
    await page.getByRole('option', { name: /orchard-by-keys/ }).waitFor();
    // Until the answer is there, those of the text before stand in the list.
    await expect.poll(() => page.getByRole('option').count()).toBe(1);
    expect(await axe(page)).toEqual([]);
    // A part of a name is no repository.
    const create = page.locator('[role=dialog] button[data-kind=primary]');
    expect(await create.getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await branches(page).waitFor();
    await press(page, 'Create');
    await page.getByRole('button', { name: 'Start the first thread' }).waitFor();
    await page.getByText('Threads start from the branch main').waitFor();
    const [project] = (await client.projects.list({ repositoryId: repository.id })).items;
    expect(project).toMatchObject({ name: 'Orchard by keys', defaultBranch: 'main', kind: 'direct' });

    await page.keyboard.press('n');
    await page.getByLabel('First message').fill('Prune the trees.');
    await branches(page).fill('nowhere');
    const said = await samples(page);
    expect(said).toContain('/api/threads');
    expect(said).toContain(`"projectId":"${project!.id}"`);
    expect(said).toContain(`--project ${project!.id} --branch 'nowhere'`);
    await branches(page).fill('');
    await page.getByRole('option', { name: /main/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await branches(page).inputValue()).toBe('main');
    await press(page, 'Start');
    await page.getByRole('heading', { name: /Prune the trees/, level: 1 }).waitFor();
    await page.getByText('from main').waitFor();
    const [thread] = (await client.threads.listDirect({ projectId: project!.id })).items;
    expect(thread).toMatchObject({ baseBranch: 'main', title: 'Prune the trees.' });
    await atRest(visit);
    // A pull request brings it in, no apply.
    expect(await page.getByRole('link', { name: 'Preview the apply' }).count()).toBe(0);
  },
);

browserTest('a repository by its whole name, and no branch of one that is not chosen', async () => {
  const { client } = site;
  const repository = await client.scm.createRepository({ name: 'vineyard', files: GARDEN, message: 'Plant' });
  const { page } = await at('projects');
  const create = page.locator('[role=dialog] button[data-kind=primary]');
  const named = async (name: string) => {
    await page.getByRole('button', { name: 'Create a project' }).first().click();
    await field(page, 'Name').fill(name);
    // As if pasted: nothing is picked.
    await page.getByRole('combobox', { name: 'Repository' }).fill(repository.fullName);
    await page.locator('label', { hasText: 'Default branch' }).waitFor();
    await page.keyboard.press('Tab');
    await branches(page).fill('main');
    await page.keyboard.press('Tab');
  };
  await named('Wine');
  await create.click();
  await page.getByText('Threads start from the branch main').waitFor();
  await page.goto('/console/projects');
  await named('Water');
  await page.getByRole('combobox', { name: 'Repository' }).fill('');
  await page.keyboard.press('Tab');
  await branches(page).waitFor({ state: 'detached' });
  expect(await samples(page)).not.toContain('main');
  await create.click();
  await page.getByText('Import the first version').waitFor();
  const found = (await client.projects.list({ query: 'W' })).items.filter(({ name }) =>
    ['Wine', 'Water'].includes(name),
  );
  expect(found.map(({ name, repositoryId }) => [name, repositoryId]).toSorted()).toEqual([
    ['Water', null],
    ['Wine', repository.id],
  ]);
});

browserTest('a task of any status but the ended ones; why they cannot be read', async () => {
  const { client } = site;
  const project = await boundProject(client, 'ditch', 'Ditch');
  for (const [title, status] of [
    ['Dig', 'open'],
    ['Line', 'in_review'],
    ['Fill', 'done'],
  ] as const) {
    const task = await client.tasks.create({ projectId: project.id, title });
    await client.tasks.update(task.id, { status });
  }
  const visit = await at(`apps/${project.id}`);
  const { page } = visit;
  const choice = page.getByRole('dialog').getByRole('button', { name: /Task/ });
  const open = async () => {
    await page.getByRole('button', { name: 'New thread' }).click();
    await page.getByText('Spend limit, task and issue').click();
  };
  await open();
  await choice.click();
  await expect
    .poll(() => page.getByRole('option').allInnerTexts())
    .toEqual(['None', expect.stringContaining('Dig'), expect.stringContaining('Line')]);
  await page.keyboard.press('Escape');
  await page.route('**/api/tasks?*', (route) =>
    route.fulfill({ status: 403, json: { ok: false, error: { code: 'forbidden', message: 'Not these.' } } }),
  );
  visit.allows(/\/tasks\?.*: 403$/);
  await page.goto(`/console/apps/${project.id}`);
  await open();
  await page.getByRole('alert').filter({ hasText: 'The tasks cannot be read now' }).waitFor();
});

browserTest(
  'its settings: a default branch, metadata, and nothing saved over what somebody else did',
  async () => {
    const { client } = site;
    const project = await boundProject(client, 'hedge', 'Hedge');
    const visit = await at(`apps/${project.id}/settings`);
    visit.allows(/: 409$/);
    const { page } = visit;
    await page.getByRole('link', { name: 'hedge', exact: true }).waitFor();
    let asked = 0;
    page.on('request', (request) => (asked += Number(request.url().includes('/branches'))));
    await page.reload();
    await atRest(visit);
    expect(asked).toBe(0);
    await branches(page).click();
    await page.getByRole('option', { name: /main/ }).waitFor();
    expect(asked).toBe(1);
    await page.keyboard.press('Escape');
    await press(page, 'Add a name');
    await field(page, 'Name').nth(2).fill('team');
    await page.getByText('This name is there already.').waitFor();
    await field(page, 'Name').nth(2).fill('plan');
    await field(page, 'Value').nth(1).fill('pro');
    // Typed text outlives a reload.
    await page.reload();
    await client.projects.update(project.id, { name: 'Hedges' });
    await press(page, 'Save the project');
    await page.getByRole('alert').filter({ hasText: 'changed' }).first().waitFor();
    expect((await client.projects.get(project.id)).metadata).toEqual({ team: 'garden' });
    await press(page, 'Save over it all the same');
    await press(page, 'Save the project');
    await page.getByText('Saved.', { exact: true }).waitFor();
    expect(await client.projects.get(project.id)).toMatchObject({
      name: 'Hedges',
      metadata: { team: 'garden', plan: 'pro' },
    });
    await field(page, 'Runs').fill('3');
    const said = await samples(page);
    expect(said).toContain(`/api/projects/${project.id}/settings`);
    expect(said).toContain(`client.project('${project.id}').settings.update(`);
    expect(said).toContain(`headrace settings set --project ${project.id}`);
    await press(page, 'Discard');
  },
);

browserTest('a project without files takes threads and an import; it is deleted by its name', async () => {
  const { client } = site;
  const project = await client.projects.create({ name: 'Blank' });
  const visit = await at(`apps/${project.id}`);
  // The feed may tell of its end before the page has gone.
  visit.allows(/\/api\/projects\/prj_[^/]+: 404$/);
  const { page } = visit;
  await page.getByText('Import the first version').waitFor();
  await press(page, 'Start the first thread');
  await page.getByLabel('First message').fill('```sh\necho hello > a.txt\n```');
  await press(page, 'Start');
  await page.getByRole('heading', { level: 1, name: 'echo hello' }).waitFor();
  await page.goto(`/console/apps/${project.id}/settings`);
  await press(page, 'Delete the project');
  await page.getByRole('dialog').getByRole('textbox').fill('Blank');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the project' }).click();
  await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
  await page.getByText('Blank', { exact: true }).waitFor({ state: 'detached' });
});

browserTest('the list is narrowed by name and repository, in the address', async () => {
  const { client } = site;
  const project = await boundProject(client, 'pond', 'Pond with frogs');
  await client.projects.create({ name: 'Pond without' });
  const { page } = await at(`projects?repositoryId=${project.repositoryId}`);
  const rows = page.getByRole('list', { name: 'Projects' }).getByRole('listitem');
  await page.getByText('Pond with frogs').waitFor();
  expect(await rows.count()).toBe(1);
  expect(await rows.first().innerText()).toMatch(/pond at main[\s\S]*not fetched yet/);
  await page.getByRole('link', { name: 'Show all' }).click();
  await page.keyboard.press('/');
  await page.keyboard.type('pond w');
  await page.waitForURL(/query=pond/);
  await page.getByText('Pond without').waitFor();
  await expect.poll(() => rows.count()).toBe(2);
});

browserTest('a thread: saved as a file, its workspace, its forks, and builds of no thread', async () => {
  const { client } = site;
  const project = await boundProject(client, 'meadow', 'Meadow');
  const thread = await threadOf(client, project, { title: 'Mow', message: { content: 'Mow the meadow.' } });
  await client.thread(thread.id).fork({ title: 'Mow less' });
  const visit = await at(`apps/${project.id}/threads/${thread.id}`);
  const { page } = visit;
  for (const [format, text] of [
    ['Markdown', /Mow the meadow\./],
    ['JSON', /"formatVersion": 1/],
  ] as const) {
    await choose(page, 'Export');
    await page.getByRole('radiogroup', { name: 'Format' }).getByText(format, { exact: true }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Save the file')]);
    expect(await readFile(await download.path(), 'utf8')).toMatch(text);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  // One that is cancelled ends, and closes nothing later.
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/export*', async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  let saved = 0;
  page.on('download', () => saved++);
  await choose(page, 'Export');
  const cancelled = page.waitForEvent('requestfailed', (request) => request.url().includes('/export'));
  await press(page, 'Save the file');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await cancelled;
  await choose(page, 'Rename');
  release();
  await atRest(visit);
  await page.getByRole('dialog', { name: /Rename/ }).waitFor();
  expect(saved).toBe(0);
  await page.keyboard.press('Escape');
  await choose(page, 'Workspace');
  await page.getByRole('list', { name: 'Changes of the workspace' }).waitFor();
  await field(page, 'Keep it, in minutes').fill('45');
  await press(page, 'Keep it from now');
  await page.getByText('45 min after the last work').waitFor();
  expect((await client.thread(thread.id).workspaces.policy()).policy).toEqual({ idleTimeoutMinutes: 45 });

  await page.goto(`/console/apps/${project.id}?show=forks`);
  const forks = page.getByRole('list', { name: 'Forks of Mow' });
  await forks.getByText('Mow less').waitFor();
  await page.goto(`/console/apps/${project.id}/builds?threadId=none`);
  await page.getByText('No build is like that').waitFor();
  await atRest(visit);
});

browserTest('the organization’s settings are all there, and its own form inherits from nothing', async () => {
  const visit = await at('organization/settings');
  const { page } = visit;
  const titles = await page.locator('main').getByRole('heading', { level: 2 }).allInnerTexts();
  expect(titles).toEqual([
    'Model and money',
    'Instructions',
    'Sandboxes',
    'Setup',
    'Approvals',
    'At the same time',
    'Previews',
    'Pull requests',
  ]);
  expect(await page.locator('main').innerText()).not.toMatch(/as the organization|this app/i);
  await field(page, 'Builds').fill('998');
  const said = await samples(page);
  expect(said).toContain(`headrace settings set --organization concurrency:='{"runs":null,"builds":998}'`);
  await press(page, 'Discard');
});
