/** The writes on pages of apps, builds, previews, sources and of the account. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { choose, folderOf } from './folders.ts';
import { builds, makeApp, skillText, untilThread } from './ground.ts';
import type { Ground } from './ground.ts';
import { signedIn } from './page.ts';
import { confirm, press } from './writes.ts';
import type { Bench, Write } from './writes.ts';

const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const count = (isDone: boolean) => (isDone ? 1 : 0);
const SITE = 'https://shop.example.test';

/** A preview that goes on until it is stopped. */
const SERVER = {
  command: `node -e "require('http').createServer((q,r)=>r.end('<title>Shop</title>')).listen(3000)"`,
  port: 3000,
};

export const WRITES_OF_APPS: Write[] = [
  {
    name: 'create an app',
    asks: /^POST .*\/apps$/,
    field: '/name',
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const { page } = await at('/console/apps');
      await press(page, 'Create an app');
      await field(page, 'Name').fill('Made');
      await field(page, 'External id').fill('made-1');
      return {
        page,
        press: () => press(page, 'Create'),
        kept: () => field(page, 'Name').inputValue(),
        done: async () => (await client.apps.list({ externalId: 'made-1' })).items.length,
      };
    },
  },
  {
    name: 'import files',
    asks: /^POST .*\/sources(\?|$)/,
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Empty' });
      const { page } = await at(`/console/apps/${app.id}`);
      await page.evaluate(`(() => {
        const zone = [...document.querySelectorAll('p')].find((p) => p.textContent === 'Drop a folder here');
        for (const type of ['dragenter', 'dragover', 'drop']) {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File(['a'], 'a.txt'));
          zone.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
        }
      })()`);
      await field(page, 'What this version is').fill('The first');
      return {
        page,
        press: () => press(page, 'Import'),
        kept: () => field(page, 'What this version is').inputValue(),
        done: async () => (await client.sources.list(app.id)).items.length,
      };
    },
  },
  {
    name: 'make a source the head',
    asks: /^POST .*\/initialize$/,
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Headless' });
      await client.sources.import(app.id, { files: [{ path: 'a', content: 'a' }] });
      const { page } = await at(`/console/apps/${app.id}`);
      return {
        page,
        press: () => press(page, 'Make it the head'),
        done: async () => count((await client.apps.get(app.id)).headSourceId !== null),
      };
    },
  },
  {
    name: 'name an app',
    asks: /^PATCH .*\/apps\/[^/]+$/,
    field: '/name',
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Before' });
      const { page } = await at(`/console/apps/${app.id}/settings`);
      await field(page, 'Name').fill('After');
      return {
        page,
        press: () => press(page, 'Save the app'),
        kept: () => field(page, 'Name').inputValue(),
        done: async () => count((await client.apps.get(app.id)).name === 'After'),
      };
    },
  },
  {
    name: 'save settings',
    asks: /^PATCH .*\/settings$/,
    field: '/concurrency/runs',
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Set' });
      const { page } = await at(`/console/apps/${app.id}/settings`);
      await page.getByLabel('Runs').fill('3');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => page.getByLabel('Runs').inputValue(),
        done: async () => count((await client.settings.get(app.id)).concurrency?.runs === 3),
      };
    },
  },
  {
    name: 'save the instructions of the organization',
    asks: /^PATCH \/api\/settings$/,
    field: '/instructions',
    async begin({ at, ground }) {
      const { page } = await at('/console/organization/settings');
      await page.getByLabel('For agents in all apps').fill('Write tests.');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => page.getByLabel('For agents in all apps').inputValue(),
        done: async () => {
          const text = await (await read(ground, '/api/settings', ground.state)).text();
          return count(text.includes('Write tests.'));
        },
      };
    },
  },
  {
    name: 'save the setup of the organization',
    asks: /^PATCH \/api\/settings$/,
    field: '/setup/paths/0',
    async begin({ at, ground }) {
      const { page } = await at('/console/organization/settings');
      await page.locator('label').filter({ hasText: 'A command' }).click();
      await field(page, 'Command').fill('true # of all apps');
      await field(page, 'Files that it needs').fill('none-has-this');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => field(page, 'Command').inputValue(),
        done: async () => {
          const text = await (await read(ground, '/api/settings', ground.state)).text();
          return count(text.includes('# of all apps'));
        },
      };
    },
  },
  {
    name: 'prepare the head',
    asks: /^POST .*\/setups$/,
    async begin({ at, ground: { client } }) {
      const app = await prepared(client);
      const { page } = await at(`/console/apps/${app.id}/setups`);
      return {
        page,
        press: () => press(page, 'Prepare the head'),
        done: async () => (await client.setups.list(app.id)).items.length,
      };
    },
  },
  {
    name: 'run a setup again',
    asks: /^POST .*\/setups$/,
    async begin({ at, ground: { client } }) {
      const app = await prepared(client);
      const { id } = await client.setups.create(app.id).done();
      const { page } = await at(`/console/apps/${app.id}/setups/${id}`);
      return {
        page,
        press: () => press(page, 'Run again'),
        done: async () => (await client.setups.list(app.id)).items.length - 1,
      };
    },
  },
  {
    name: 'allow the console in the settings',
    asks: /^PATCH .*\/settings$/,
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Framed' });
      await client.settings.update(app.id, { preview: { frameAncestors: [SITE] } });
      const { page } = await at(`/console/apps/${app.id}/settings`);
      return {
        page,
        press: () => press(page, 'Allow this console'),
        done: async () => ((await client.settings.get(app.id)).preview?.frameAncestors.length ?? 0) - 1,
      };
    },
  },
  {
    name: 'set a variable',
    asks: /^PUT .*\/environment\//,
    field: '/value',
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Given' });
      const { page } = await at(`/console/apps/${app.id}/environment`);
      await press(page, 'New variable');
      await field(page, 'Name').fill('API_TOKEN');
      await field(page, 'Value').fill('correct horse battery');
      await page.getByText('Secret', { exact: true }).click();
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => field(page, 'Value').inputValue(),
        done: async () => (await client.environment.list(app.id)).items.length,
      };
    },
  },
  {
    name: 'import variables',
    asks: /^PUT .*\/environment\//,
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Imported' });
      const { page } = await at(`/console/apps/${app.id}/environment`);
      await press(page, 'Import');
      await field(page, 'Text of a .env file').fill('API_URL=https://api.example.test');
      return {
        page,
        press: () => press(page, 'Set 1 variable'),
        kept: () => field(page, 'Text of a .env file').inputValue(),
        done: async () => (await client.environment.list(app.id)).items.length,
      };
    },
  },
  {
    name: 'delete a variable',
    asks: /^DELETE .*\/environment\//,
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Bare' });
      await client.environment.set(app.id, 'API_URL', { value: 'https://api.example.test' });
      const { page } = await at(`/console/apps/${app.id}/environment`);
      await press(page, 'Delete API_URL');
      return {
        page,
        press: () => press(page, 'Delete the variable'),
        done: async () => 1 - (await client.environment.list(app.id)).items.length,
      };
    },
  },
  {
    name: 'set a skill',
    asks: /^PUT .*\/projects\/[^/]+\/skills\//,
    field: '/params/name',
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Skilled' });
      const { page } = await at(`/console/apps/${app.id}/skills`);
      await press(page, 'New skill');
      await chooseSkill(page);
      return {
        page,
        press: () => press(page, 'Add the skill'),
        kept: () => field(page, 'Name').inputValue(),
        done: async () => (await client.skills.list(app.id)).items.length,
      };
    },
  },
  {
    name: 'delete a skill',
    asks: /^DELETE .*\/skills\//,
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Unskilled' });
      await client.skills.set(app.id, 'notes', {
        files: [{ path: 'SKILL.md', content: skillText('notes', 'How to write.') }],
      });
      const { page } = await at(`/console/apps/${app.id}/skills`);
      await press(page, 'Delete notes');
      return {
        page,
        press: () => press(page, 'Delete the skill'),
        done: async () => 1 - (await client.skills.list(app.id)).items.length,
      };
    },
  },
  {
    name: 'set a skill of the organization',
    asks: /^PUT \/api\/skills\//,
    field: '/params/name',
    async begin({ at, ground }) {
      const { page } = await at('/console/organization/skills');
      await press(page, 'New skill');
      await chooseSkill(page);
      return {
        page,
        press: () => press(page, 'Add the skill'),
        kept: () => field(page, 'Name').inputValue(),
        done: async () => count((await read(ground, '/api/skills/notes', ground.state)).status === 200),
      };
    },
  },
  {
    name: 'set a variable of the organization',
    asks: /^PUT \/api\/environment\//,
    field: '/params/name',
    async begin({ at, ground }) {
      const { page } = await at('/console/organization/environment');
      await press(page, 'New variable');
      await field(page, 'Name').fill('SHARED_URL');
      await field(page, 'Value').fill('https://shared.example.test');
      return {
        page,
        press: () => press(page, 'Save'),
        kept: () => field(page, 'Value').inputValue(),
        done: async () =>
          count((await read(ground, '/api/environment/SHARED_URL', ground.state)).status === 200),
      };
    },
  },
  {
    name: 'delete a variable of the organization',
    asks: /^DELETE \/api\/environment\//,
    async begin({ at, ground }) {
      const body = JSON.stringify({ value: 'https://old.example.test' });
      await read(ground, '/api/environment/OLD_URL', ground.state, { method: 'PUT', body });
      const { page } = await at('/console/organization/environment');
      await press(page, 'Delete OLD_URL');
      return {
        page,
        press: () => press(page, 'Delete the variable'),
        done: async () =>
          count((await read(ground, '/api/environment/OLD_URL', ground.state)).status === 404),
      };
    },
  },
  {
    name: 'delete an app',
    asks: /^DELETE .*\/(apps|projects)\/[^/]+$/,
    async begin({ at, ground: { client } }) {
      const app = await client.apps.create({ name: 'Ends' });
      const { page } = await at(`/console/apps/${app.id}/settings`);
      await press(page, 'Delete the app');
      const dialog = page.getByRole('dialog');
      await field(page, 'The app’s name').fill('Ends');
      return {
        page,
        press: () => dialog.getByRole('button', { name: 'Delete the app' }).click(),
        kept: () => field(page, 'The app’s name').inputValue(),
        done: () =>
          client.apps.get(app.id).then(
            () => 0,
            () => 1,
          ),
      };
    },
  },
  {
    name: 'start a build',
    asks: /^POST .*\/builds$/,
    field: '/command',
    async begin(bench) {
      const { client } = bench.ground;
      const { app, threadId } = await freshThread(client);
      const { page } = await bench.at(`/console/apps/${app.id}/threads/${threadId}?panel=builds`);
      await press(page, 'Build');
      await field(page, 'Command').fill('echo built');
      await field(page, 'Output directory').fill('.');
      return {
        page,
        press: () => page.getByRole('dialog').getByRole('button', { name: 'Build', exact: true }).click(),
        kept: () => field(page, 'Command').inputValue(),
        done: async () => (await client.builds.list(app.id, threadId)).items.length,
      };
    },
  },
  {
    name: 'cancel a build',
    asks: /^POST .*\/cancel$/,
    async begin({ at, ground: { client } }) {
      const app = await makeApp(client, 'Cancelled');
      const { building } = await builds(client, app);
      const { page } = await at(`/console/apps/${app.id}/builds/${building.id}`);
      return {
        page,
        press: () => confirm(page, 'Cancel the build'),
        done: async () => count((await client.builds.get(app.id, building.id)).status !== 'building'),
      };
    },
  },
  {
    name: 'repeat a build',
    asks: /^POST .*\/builds$/,
    async begin(bench) {
      const { client } = bench.ground;
      const { app, threadId } = await freshThread(client);
      const build = await client.builds
        .create(app.id, threadId, { command: 'true', outputDirectory: '.', timeoutSeconds: 60 })
        .done();
      const { page } = await bench.at(`/console/apps/${app.id}/builds/${build.id}`);
      return {
        page,
        press: () => press(page, 'Repeat'),
        done: async () => (await client.builds.list(app.id, threadId)).items.length - 1,
      };
    },
  },
  {
    name: 'start a preview',
    asks: /^POST .*\/previews$/,
    field: '/port',
    async begin(bench) {
      const { client } = bench.ground;
      const { app, threadId } = await freshThread(client);
      const { page } = await bench.at(`/console/apps/${app.id}/threads/${threadId}?panel=preview`);
      await press(page, 'Start a preview');
      await field(page, 'Command').fill(SERVER.command);
      await field(page, 'Port').fill('3000');
      return {
        page,
        press: () => press(page, 'Start'),
        kept: () => field(page, 'Command').inputValue(),
        done: async () => (await client.previews.list(app.id, threadId)).items.length,
      };
    },
  },
  {
    name: 'stop a preview',
    asks: /^DELETE .*\/previews\//,
    async begin(bench) {
      const { page, client, app, preview } = await shownPreview(bench, null);
      return {
        page,
        press: () => press(page, 'Stop'),
        done: async () => count((await client.previews.get(app.id, preview.id)).status === 'stopped'),
      };
    },
  },
  {
    name: 'allow the console at a preview',
    asks: /^PATCH .*\/settings$/,
    async begin(bench) {
      const { page, client, app } = await shownPreview(bench, { frameAncestors: [SITE] });
      return {
        page,
        press: () => press(page, 'Allow this console'),
        done: async () => ((await client.settings.get(app.id)).preview?.frameAncestors.length ?? 0) - 1,
      };
    },
  },
  {
    name: 'edit a source by hand',
    asks: /^POST .*\/sources(\?|$)/,
    isWhole: true,
    async begin({ at, ground: { client } }) {
      const app = await makeApp(client, 'Edited');
      const { page } = await at(`/console/apps/${app.id}/sources/${app.sourceId}?file=README.md&edit=true`);
      await page.getByLabel('Text of README.md').fill('# Edited\n');
      await field(page, 'Message of the new source').fill('By hand');
      return {
        page,
        press: () => press(page, 'Make a source of 1 change'),
        kept: async () => [
          await page.getByLabel('Text of README.md').inputValue(),
          await field(page, 'Message of the new source').inputValue(),
        ],
        done: async () => (await client.sources.list(app.id)).items.length - 1,
      };
    },
  },
  {
    name: 'accept an invitation',
    asks: /^POST .*\/accept$/,
    field: '/name',
    says: { 403: /The test answers with 403/, 404: /no longer works/ },
    async begin(bench) {
      const url = await invitation(bench.ground, 'accepts@example.test');
      const { page } = await bench.at(url, { cookies: [], origins: [] });
      await field(page, 'Your name').fill('New One');
      await page.getByLabel('Password').fill('a long password 2');
      return {
        page,
        press: () => press(page, 'Accept the invitation'),
        kept: () => field(page, 'Your name').inputValue(),
        done: () => members(bench.ground, 'accepts@example.test'),
      };
    },
  },
  {
    name: 'change the password',
    asks: /^(POST|PUT|PATCH) .*password$/,
    says: { 403: /The current password is wrong/ },
    async begin(bench) {
      const { page, person } = await newPerson(bench, 'changes@example.test');
      await page.getByLabel('Current password').fill(person.password);
      await page.getByLabel('New password').fill('another long password');
      return {
        page,
        press: () => press(page, 'Change the password'),
        kept: () => page.getByLabel('New password').inputValue(),
        done: () =>
          signedIn(bench.ground.base, { ...person, password: 'another long password' }).then(
            () => 1,
            () => 0,
          ),
      };
    },
  },
  {
    name: 'end a session',
    asks: /^DELETE .*\/sessions\//,
    async begin(bench) {
      const { page, person } = await newPerson(bench, 'ends@example.test');
      const other = await signedIn(bench.ground.base, person);
      await page.reload();
      return {
        page,
        press: () => press(page, 'End'),
        done: async () => count((await read(bench.ground, '/api/session', other)).status === 401),
      };
    },
  },
  {
    name: 'sign in',
    asks: /^POST .*\/sign-in\/email$/,
    says: { 403: /The test answers with 403/ },
    async begin(bench) {
      const { page, person } = await newPerson(bench, 'returns@example.test');
      await page.context().clearCookies();
      await page.goto('/console/sign-in');
      await page.getByLabel('E-mail address').fill(person.email);
      await page.getByLabel('Password').fill(person.password);
      return {
        page,
        press: () => press(page, 'Sign in'),
        kept: () => page.getByLabel('Password').inputValue(),
        done: async () => count((await page.context().cookies()).length > 0),
      };
    },
  },
  {
    name: 'go to another organization',
    asks: /^PUT .*\/session\/organization$/,
    isHarmless: true,
    async begin({ at, ground }) {
      const body = JSON.stringify({ name: 'Second' });
      await read(ground, '/api/organizations', ground.state, { method: 'POST', body });
      // A session of its own: the others stay where they are.
      const { page } = await at('/console/account', await signedIn(ground.base));
      return {
        page,
        async press() {
          await press(page, 'You and the organization');
          await page.getByRole('menuitem', { name: 'Switch to Second' }).click();
        },
        done: async () =>
          count(
            page.url().endsWith('/console/') && (await page.getByText('Second', { exact: true }).isVisible()),
          ),
      };
    },
  },
  {
    name: 'sign out',
    asks: /^POST .*\/sign-out$/,
    async begin(bench) {
      const { page, state } = await newPerson(bench, 'leaves@example.test');
      return {
        page,
        async press() {
          await press(page, 'You and the organization');
          await page.getByRole('menuitem', { name: 'Sign out' }).click();
        },
        done: async () =>
          count(
            (await read(bench.ground, '/api/session', state)).status === 401 &&
              page.url().endsWith('/console/sign-in'),
          ),
      };
    },
  },
];

/** Of an app of its own: its lists count what was made. */
async function prepared(client: Ground['client']) {
  const app = await makeApp(client, 'Prepared');
  await client.settings.update(app.id, { setup: { command: 'true', paths: ['.'] } });
  return app;
}

async function freshThread(client: Ground['client']) {
  const app = await makeApp(client, 'One thread');
  const { thread } = await client.threads.create(app.id, { title: 'Before' });
  await untilThread(client, app, thread.id, ({ status }) => status === 'ready');
  return { app, threadId: thread.id };
}

async function shownPreview({ at, ground: { client } }: Bench, framing: { frameAncestors: string[] } | null) {
  const { app, threadId } = await freshThread(client);
  await client.settings.update(app.id, { preview: framing });
  const preview = await client.previews.create(app.id, threadId, SERVER).done();
  const { page } = await at(`/console/apps/${app.id}/previews/${preview.id}`);
  return { page, client, app, preview };
}

const read = ({ base }: Ground, path: string, { cookies }: Ground['state'], init: RequestInit = {}) =>
  fetch(`${base}${path}`, {
    ...init,
    headers: {
      'content-type': 'application/json',
      origin: base,
      'idempotency-key': crypto.randomUUID(),
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    },
  });

/** Returns the path of the page that accepts it. */
async function invitation(ground: Ground, email: string): Promise<string> {
  const body = JSON.stringify({ email, role: 'member' });
  const response = await read(ground, '/api/members', ground.state, { method: 'POST', body });
  const answer = (await response.json()) as { invitation: { url: string } };
  return new URL(answer.invitation.url).pathname;
}

async function members(ground: Ground, email: string): Promise<number> {
  const text = await (await read(ground, '/api/members', ground.state)).text();
  const { members: all } = JSON.parse(text) as { members: { user?: { email: string }; email?: string }[] };
  return all.filter((member) => (member.user?.email ?? member.email) === email).length;
}

/** Somebody whose session may end, on the page of their account. */
async function newPerson({ ground, at }: Bench, email: string) {
  const person = { email, password: 'a long password 2' };
  const token = (await invitation(ground, email)).split('/').at(-1)!;
  const body = JSON.stringify({ name: 'Person', password: person.password });
  await read(
    ground,
    `/api/invitations/${token}/accept`,
    { cookies: [], origins: [] },
    { method: 'POST', body },
  );
  const state = await signedIn(ground.base, person);
  return { ...(await at('/console/account', state)), person, state };
}

const chooseSkill = (page: Page) =>
  choose(
    page,
    folderOf(join(mkdtempSync(join(tmpdir(), 'headrace-skill-')), 'notes'), {
      'SKILL.md': skillText('notes', 'How to write.'),
    }),
  );
