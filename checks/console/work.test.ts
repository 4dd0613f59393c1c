/** Tasks and automations, driven as a person does. */
import { beforeAll, expect } from 'vitest';
import type { Page } from 'playwright-core';
import type { Site } from './ground.ts';
import { atRest, focused, tabTo, visitAt } from './page.ts';
import { HELD, KEPT } from './remains.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';
import { press } from './writes.ts';

const rig = useBrowser();
let site: Site;
beforeAll(() => {
  site = sharedSite();
});

const at = (path: string) => visitAt(rig, `/console/${path}`, { base: site.base, state: site.state });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const choose = (page: Page, label: string) => page.locator('label').filter({ hasText: label }).click();
const project = async (name: string) => (await site.client.projects.create({ name })).id;
const column = (page: Page, name: string) => page.getByRole('list', { name: `Tasks: ${name}`, exact: true });

browserTest('a task is made and moved by keys, and follows its threads again', async () => {
  const { client } = site;
  const projectId = await project('Keys of tasks');
  const visit = await at(`tasks?projectId=${projectId}`);
  const { page } = visit;
  await page.getByText('This project has no tasks').waitFor();
  await page.keyboard.press('n');
  await field(page, 'Title').waitFor();
  await page.keyboard.type('Dig a <b>pond</b>');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'T-1 Dig a <b>pond</b>' }).waitFor();
  await page.goBack();
  await column(page, 'open').getByText('Dig a <b>pond</b>').waitFor();
  await page.keyboard.press('j');
  expect(await focused(page)).toBe('a Dig a <b>pond</b>');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Set status in review' }).waitFor();
  await page.keyboard.type('Set status in r');
  await page.keyboard.press('Enter');
  await column(page, 'in review').getByText('Dig a <b>pond</b>').waitFor();
  // It is still the one that the keys are at.
  await expect.poll(() => focused(page)).toBe('a Dig a <b>pond</b>');
  const [task] = (await client.tasks.list({ projectId })).items;
  expect(task?.status).toBe('in_review');
  await press(page, 'Set the status of T-1');
  await page.getByRole('menuitem', { name: 'Let it follow its threads' }).click();
  await column(page, 'open').getByText('Dig a <b>pond</b>').waitFor();
  await page.getByText('T-1 follows its threads: it is open.').waitFor();
});

/** The next write of this kind is asked for, but not sent before `go`. */
async function held(page: Page, method: string) {
  const asked = Promise.withResolvers<() => Promise<void>>();
  let isNext = true;
  await page.route('**/api/**', async (route) => {
    if (!isNext || route.request().method() !== method) return await route.fallback();
    isNext = false;
    asked.resolve(() => route.continue());
  });
  return { isAsked: asked.promise, go: async () => (await asked.promise)() };
}

browserTest('a write that ends after its dialog leaves the user where they are', async () => {
  const { client } = site;
  const projectId = await project('Late answers');
  const { page } = await at(`tasks?projectId=${projectId}`);
  await page.keyboard.press('n');
  await page.keyboard.type('Late');
  const made = await held(page, 'POST');
  await page.keyboard.press('Enter');
  await made.isAsked;
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('n');
  await field(page, 'Title').fill('Another');
  await made.go();
  await page.getByText('T-1 is made.').waitFor();
  expect(new URL(page.url()).pathname).toBe('/console/tasks');
  expect(await field(page, 'Title').inputValue()).toBe('Another');
  const [task] = (await client.tasks.list({ projectId })).items;
  expect(task?.title).toBe('Late');
});

browserTest('a change of a status without an answer is repeated as the same one', async () => {
  const { client } = site;
  const projectId = await project('Lost answers');
  const task = await client.tasks.create({ projectId, title: 'Weed the beds' });
  const visit = await at(`tasks/${task.id}`);
  visit.allows(/: 502$/);
  const { page } = visit;
  const keys: (string | undefined)[] = [];
  let isLost = true;
  await page.route(`**/api/tasks/${task.id}`, async (route) => {
    if (route.request().method() !== 'PATCH') return route.fallback();
    keys.push((await route.request().allHeaders())['idempotency-key']);
    return isLost ? route.fulfill({ status: 502, body: 'proxy' }) : route.continue();
  });
  const set = async () => {
    await press(page, 'Set status');
    await page.getByRole('menuitem', { name: 'Set status done' }).click();
  };
  await set();
  await page.getByRole('alert').waitFor();
  // Meanwhile another gives it another title, so the page has another task.
  await client.tasks.update(task.id, { title: 'Weed them all' });
  await page.reload();
  await page.getByRole('heading', { name: /Weed them all/ }).waitFor();
  isLost = false;
  await set();
  await page.getByText('T-1 is set to done.').waitFor();
  expect(new Set(keys).size).toBe(1);
});

browserTest('a thread of a task waits for the project, and says why it cannot be read', async () => {
  const projectId = await project('Slow projects');
  const task = await site.client.tasks.create({ projectId, title: 'Mow' });
  const visit = await rig.visit({ base: site.base, state: site.state });
  visit.allows(/: 409$/);
  const { page } = visit;
  let isOff = true;
  await page.route(`**/api/projects/${projectId}`, (route) =>
    isOff
      ? route.fulfill({ status: 409, json: { error: { code: 'conflict', message: 'Not now.' } } })
      : route.fallback(),
  );
  await page.goto(`/console/tasks/${task.id}`);
  await page.getByRole('heading', { name: /Mow/ }).waitFor();
  await atRest(visit);
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'New thread for T-1' });
  await dialog.getByRole('alert').waitFor();
  isOff = false;
  await dialog.getByRole('button', { name: /again/i }).click();
  await dialog.getByRole('textbox', { name: 'First message' }).waitFor();
});

browserTest('a task is dragged to another column; a long column comes page by page', async () => {
  const { client } = site;
  const projectId = await project('Many tasks');
  for (let i = 1; i <= 51; i++) await client.tasks.create({ projectId, title: `Task number ${i}` });
  const { page } = await at(`tasks?projectId=${projectId}`);
  const rows = column(page, 'open').getByRole('listitem');
  expect(await rows.count()).toBe(50);
  await press(page, 'Show more: open');
  await column(page, 'open').getByText('Task number 1', { exact: true }).waitFor();
  expect(await rows.count()).toBe(51);
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Task number 51' })
    .dragTo(page.getByRole('region', { name: 'done' }), { targetPosition: { x: 40, y: 80 } });
  await column(page, 'done').getByText('Task number 51').waitFor();
  expect((await client.tasks.list({ projectId, status: 'done' })).items.map(({ title }) => title)).toEqual([
    'Task number 51',
  ]);
});

browserTest('a thread is started for a task; the task goes, and the thread stays', async () => {
  const { client } = site;
  const projectId = await project('Threads of tasks');
  const task = await client.tasks.create({ projectId, title: 'Prune the roses' });
  const visit = await at(`tasks/${task.id}`);
  // The event of its deletion may arrive before the page is left.
  visit.allows(/\/api\/tasks\/task_\w+: 404$/);
  const { page } = visit;
  await page.keyboard.press('n');
  await page.getByRole('dialog', { name: 'New thread for T-1' }).waitFor();
  await page.keyboard.type('Prune them.');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect.poll(() => page.url()).toContain('/threads/thr_');
  const { items } = await client.threads.listDirect({ taskId: task.id });
  expect(items.map(({ taskIdentifier }) => taskIdentifier)).toEqual(['T-1']);
  await page.goBack();
  await page.getByRole('link', { name: 'Prune them.' }).last().waitFor();
  await press(page, 'More about this task');
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByText('Its 1 thread stays, without a task.').waitFor();
  await press(page, 'Delete the task');
  await expect.poll(() => page.url()).toContain(`/tasks?projectId=${projectId}`);
  const left = (await client.threads.listDirect({ projectId })).items;
  expect(left.map(({ id, tasks }) => [id, tasks])).toEqual([[items[0]!.id, []]]);
});

browserTest(
  'a schedule is made by keys, with its next times; what is refused stands at its field',
  async () => {
    const { client } = site;
    const projectId = await project('Schedules');
    const visit = await at(`automations?projectId=${projectId}`);
    visit.allows(/\/api\/automations.*: 400$/);
    const { page } = visit;
    await page.keyboard.press('n');
    await field(page, 'Name').waitFor();
    await page.keyboard.type('Watering');
    await field(page, 'Times, as cron').fill('');
    await page.getByText('None: no times are given.').waitFor();
    await field(page, 'Times, as cron').fill('0 25 * * *');
    await page.getByText('None: the times are wrong.').waitFor();
    expect(await field(page, 'Times, as cron').getAttribute('aria-invalid')).toBe('true');
    await field(page, 'Times, as cron').fill('0 6 * * SUN');
    const times = page.getByRole('list', { name: 'Next times' }).getByRole('listitem');
    await expect.poll(() => times.count()).toBe(5);
    for (const line of await times.allInnerTexts()) expect(line).toMatch(/^Sun \d+ \w+, 06:00/);
    await field(page, 'Prompt').fill('Say {{secrets.token}}.');
    await press(page, 'Create');
    await page.getByText(/^has \{\{secrets\.token\}\}/).waitFor();
    expect(await field(page, 'Prompt').getAttribute('aria-invalid')).toBe('true');
    await field(page, 'Prompt').fill('Water the plants of ');
    await press(page, 'Insert a value');
    await page.getByRole('menuitem', { name: /name/ }).click();
    expect(await field(page, 'Prompt').inputValue()).toBe('Water the plants of {{automation.name}}');
    await tabTo(page, /^button Create/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Watering/ }).waitFor();
    const [made] = (await client.automations.list({ projectId })).items;
    expect(made).toMatchObject({
      name: 'Watering',
      trigger: { kind: 'schedule', cron: '0 6 * * SUN' },
      disableAfterFailures: 5,
    });
    // Only what is changed is sent.
    await press(page, 'Change');
    await field(page, 'Limit of a month, in dollars').fill('12.50');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await press(page, 'Save');
    expect((await sent).postDataJSON()).toEqual({ monthlyLimitMicros: 12_500_000 });
    await page.getByText('$12.50 a month').waitFor();
  },
);

/** Neither the browser nor the page has it any more. */
async function expectGone(page: Page, secret: string): Promise<void> {
  expect(await page.evaluate<string>(KEPT)).not.toContain(secret);
  await expect
    .poll(async () => (await page.evaluate<{ text: string }>(HELD)).text.includes(secret))
    .toBe(false);
}

browserTest('a hook’s secret is shown once, works, and is kept nowhere', async () => {
  const { client } = site;
  const projectId = await project('Hooks');
  const visit = await at(`automations?projectId=${projectId}`);
  const { page } = visit;
  await page.keyboard.press('n');
  await field(page, 'Name').fill('Deployed');
  await choose(page, 'When another system calls');
  await press(page, 'Add a condition');
  await press(page, 'Remove condition 1');
  expect(await focused(page)).toBe('button Add a condition');
  await page.keyboard.press('Enter');
  await field(page, 'Path 1').fill('payload.service');
  await field(page, 'Value 1').fill('shop');
  await field(page, 'Prompt').fill('{{payload.service}} was deployed.');
  const answer = await held(page, 'POST');
  await press(page, 'Create');
  await answer.isAsked;
  const cancel = page.getByRole('button', { name: 'Cancel', exact: true });
  await expect.poll(() => cancel.isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  expect(await cancel.count()).toBe(1);
  await answer.go();
  const dialog = page.getByRole('dialog', { name: 'The secret of the hook' });
  const secret = await dialog.getByLabel('Secret', { exact: true }).innerText();
  expect(secret).toMatch(/^whsec_/);
  expect(await dialog.getByLabel('Sample call').innerText()).not.toContain(secret);
  await page.keyboard.press('Escape');
  expect(await dialog.count()).toBe(1);
  const [made] = (await client.automations.list({ projectId })).items;
  const call = (service: string) =>
    fetch(made!.hookUrl!, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ service }),
    }).then(async (answer) => [answer.status, ((await answer.json()) as { skipped?: string }).skipped]);
  expect(await call('mail')).toEqual([200, 'filtered']);
  expect(await call('shop')).toEqual([202, undefined]);
  await press(page, 'I have copied it');
  await page.getByRole('heading', { name: /^Deployed/ }).waitFor();
  await atRest(visit);
  await expectGone(page, secret);
  // A new one takes its place; the sender’s own is not kept either.
  await press(page, 'More about this automation');
  await page.getByRole('menuitem', { name: 'Replace the secret' }).click();
  await field(page, 'The present secret stays valid for, in seconds').fill('0');
  const replaced = await held(page, 'POST');
  await press(page, 'Replace the secret');
  await replaced.isAsked;
  await expect.poll(() => cancel.isDisabled()).toBe(true);
  await replaced.go();
  const next = await page.getByRole('dialog').getByLabel('Secret', { exact: true }).innerText();
  expect(next).toMatch(/^whsec_/);
  expect(next).not.toBe(secret);
  expect((await call('shop'))[0]).toBe(401);
  await press(page, 'I have copied it');
  await press(page, 'Change');
  await choose(page, 'Given by the sender');
  await page.getByLabel('The sender’s secret', { exact: true }).fill('the secret of the sender');
  await expectGone(page, next);
  await press(page, 'Save');
  await page.getByText('Saved. Executions that begin from now on use it.').waitFor();
  await page.goBack();
  await page.goForward();
  await atRest(visit);
  await expectGone(page, 'the secret of the sender');
});

browserTest('a run by hand takes JSON, its execution opens, and failures disable it', async () => {
  const { client } = site;
  const projectId = await project('Runs by hand');
  const { automation } = await client.automations.create({
    projectId,
    name: 'Measure by hand',
    prompt: 'Measure.\n\n```sh\nexit 3\n```\n',
    trigger: { kind: 'schedule', cron: '@yearly', timeZone: 'UTC' },
    disableAfterFailures: 1,
  });
  const visit = await at(`automations/${automation.id}`);
  const { page } = visit;
  await page.getByText('It has not started yet').waitFor();
  await page.keyboard.press('n');
  await field(page, 'Payload').fill('{"who": "<img src=x onerror=alert(1)>"');
  await page.getByText(/^Not JSON: /).waitFor();
  await field(page, 'Payload').fill('[1]');
  await page.getByText('An object: { … }.').waitFor();
  await field(page, 'Payload').fill('{"who": "<img src=x onerror=alert(1)>"}');
  await press(page, 'Run it');
  await expect.poll(() => page.url()).toContain('execution=');
  await page.getByLabel('Payload', { exact: true }).getByText('<img src=x onerror=alert(1)>').waitFor();
  const { id } = (await client.automations.executions(automation.id)).items[0]!;
  expect(page.url()).toContain(`execution=${id}`);
  await client.automations.execution(automation.id, id).done();
  await page.reload();
  await page.getByText('disabled by failures').waitFor();
  await page.getByText('Disabled after 1 failure in a row.').waitFor();
  await press(page, 'Failed');
  await expect.poll(() => page.url()).toContain('status=failed');
  const rows = page.getByRole('list', { name: 'Executions' }).getByRole('listitem');
  await expect.poll(() => rows.count()).toBe(1);
  await press(page, 'Skipped');
  await page.getByText('No execution is skipped').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.url()).not.toContain('execution=');
  expect(await focused(page)).toBe('button Skipped');
  await press(page, 'Failed');
  await rows.getByRole('link').first().press('Enter');
  await press(page, 'Close the execution');
  expect(await focused(page)).toMatch(/^a failed/);
  await press(page, 'Enable');
  await page.getByText('enabled', { exact: true }).waitFor();
  expect((await client.automations.get(automation.id)).consecutiveFailures).toBe(0);
  await press(page, 'More about this automation');
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await press(page, 'Delete the automation');
  await page.getByText('This project has no automations').waitFor();
});
