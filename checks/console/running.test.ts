/** The log of events, operations and the system in a browser. */
import { beforeAll, describe, expect } from 'vitest';
import { makeApp, moveHead } from './ground.ts';
import type { App, Site } from './ground.ts';
import { goTo, visitAt } from './page.ts';
import { startProxy } from './proxy.ts';
import type { Visit } from './browser.ts';
import { browserTest, sharedSite, useBrowser } from './rig.ts';

let ground: Site;
let app: App;
const rig = useBrowser();

beforeAll(async () => {
  ground = sharedSite();
  app = await makeApp(ground.client, 'Running');
  await moveHead(ground.client, app, [{ path: 'docs/log.md', content: 'Logged\n' }]);
});

const visit = (path: string, base = ground.base) => visitAt(rig, path, { base, state: ground.state });
const rows = ({ page }: Visit) => page.getByRole('list', { name: 'Events' }).getByRole('listitem');
const rename = (name: string) => ground.client.apps.update(app.id, { name });
const isLive = ({ page }: Visit) =>
  page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor();

describe('events', () => {
  browserTest('shows what comes, holds it while paused, and keeps the filters in the address', async () => {
    const visited = await visit(`/console/events?appId=${app.id}&types=platform.app.updated`);
    const { page } = visited;
    await page.getByText('No event matches').waitFor();
    await isLive(visited);
    await rename('Running 1');
    await rows(visited).filter({ hasText: 'platform.app.updated' }).first().waitFor();
    expect(await rows(visited).count()).toBe(1);
    await page.getByText(/^0\.[1-9]\/s$/).waitFor();
    await page.keyboard.press('p');
    await page.waitForURL(/paused=true/);
    await rename('Running 2');
    await rename('Running 3');
    const show = page.getByRole('button', { name: 'Show 2 new events' });
    await show.waitFor();
    expect(await rows(visited).count()).toBe(1);
    await show.click();
    await expect.poll(() => rows(visited).count()).toBe(3);
    await page.getByRole('button', { name: 'platform.app.updated', exact: true }).click();
    await page.getByRole('option', { name: 'platform.app.created' }).click();
    await page.waitForURL(/types=platform\.app\.updated(,|%2C)platform\.app\.created/);
    await page.keyboard.press('Escape');
    await expect.poll(() => rows(visited).count()).toBe(4);
  });

  browserTest('shows what comes of projects', async () => {
    const { id } = await ground.client.projects.create({ name: 'Runs by itself' });
    const visited = await visit(`/console/events?feed=direct&appId=${id}&types=thread.updated`);
    await visited.page.getByText('No event matches').waitFor();
    await isLive(visited);
    await ground.client.threads.createDirect({ projectId: id, title: 'Runs on' });
    await rows(visited).filter({ hasText: 'thread.updated' }).first().waitFor();
  });

  browserTest('is live again only once what was missed is read', async () => {
    const proxy = await startProxy(ground.base);
    try {
      const visited = await visit(`/console/events?appId=${app.id}`, proxy.base);
      visited.allows(/: 503$/, /net::ERR/);
      await isLive(visited);
      let isFailing = true;
      proxy.plan(({ path }) =>
        isFailing && (path.includes('order=desc') || path.includes('/stream'))
          ? { kind: 'answer', status: 503, code: 'unavailable' }
          : null,
      );
      proxy.cutStreams();
      const said = visited.page.getByRole('status').filter({ hasText: /^(live|catching up|not connected)$/ });
      await expect.poll(() => said.innerText()).toBe('not connected');
      proxy.plan(({ path }) =>
        isFailing && path.includes('order=desc')
          ? { kind: 'answer', status: 503, code: 'unavailable' }
          : null,
      );
      await visited.page.locator('[data-live="live"]').waitFor();
      await expect.poll(() => said.innerText()).toBe('catching up');
      isFailing = false;
      await isLive(visited);
    } finally {
      await proxy.close();
    }
  });

  browserTest('leads from an event to its diff with two presses, and to the same by code', async () => {
    const visited = await visit(`/console/events?appId=${app.id}&types=platform.apply.applied`);
    const { page } = visited;
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const document = page.getByLabel('The event', { exact: true });
    await document.waitFor();
    const { cursor, threadId } = JSON.parse(await document.innerText()) as Record<string, string>;
    await page.getByRole('button', { name: 'Show as curl, TypeScript and command line' }).click();
    const curl = await page.getByLabel('curl', { exact: true }).innerText();
    const address = new URL(/'(http[^']+)'/.exec(curl)![1]!);
    expect([address.pathname, address.searchParams.get('types'), address.searchParams.get('cursor')]).toEqual(
      [`/api/platform/v1/apps/${app.id}/events`, 'platform.apply.applied', cursor],
    );
    expect(curl).not.toContain('idempotency');
    // The cursor belongs to these filters: the service takes it.
    await ground.client.events.list(
      { appId: app.id, types: ['platform.apply.applied'] },
      { cursor: cursor! },
    );
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'The thread’s changes' }).click();
    await page.waitForURL(new RegExp(`/threads/${threadId}\\?panel=changes`));
    await page.getByText('docs/log.md').first().waitFor();
  });

  browserTest('goes to an event by its id, as far back as is kept', async () => {
    const events = [];
    for await (const event of ground.client.events.replay({ appId: app.id })) events.push(event);
    const [oldest] = events;
    const visited = await visit(`/console/events?appId=${app.id}`);
    const { page } = visited;
    await page.keyboard.press('/');
    await page.keyboard.type(oldest!.id);
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`event=${oldest!.id}`));
    await page.getByText(`"id": "${oldest!.id}"`).waitFor();
    const none = `evt_${'0'.repeat(26)}`;
    await goTo(visited, `/console/events?appId=${app.id}&event=${none}`);
    await page.getByText(/No event that is kept here is evt_…000000/).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('nonsense');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'Paste a whole id' }).waitFor();
  });
});

describe('operations', () => {
  browserTest('finds a write by its key, and leads to what it made', async () => {
    const idempotencyKey = `key-${crypto.randomUUID()}`;
    const made = await ground.client.apps.create({ name: 'By a key' }, { idempotencyKey });
    const { page } = await visit('/console/operations');
    await page.keyboard.press('/');
    await page.keyboard.type(idempotencyKey);
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`key=${idempotencyKey}`));
    await page.getByText('The write is done.').waitFor();
    // The next one can be typed.
    await page.getByLabel('Idempotency key or operation id').and(page.locator(':focus')).waitFor();
    expect(await page.getByLabel('The stored answer', { exact: true }).innerText()).toContain('"By a key"');
    await page
      .getByRole('link', { name: `prj_…${made.id.slice(-6)}` })
      .last()
      .click();
    await page.waitForURL(new RegExp(`/apps/${made.id}`));
  });

  browserTest('shows the write of a project as it settles', async () => {
    const idempotencyKey = `key-${crypto.randomUUID()}`;
    const { page } = await visit(`/console/operations?key=${idempotencyKey}`);
    await page.getByText('No operation has this key').waitFor();
    await page.locator('[data-live="live"]').waitFor();
    await ground.client.projects.create({ name: 'By its event' }, { idempotencyKey });
    await page.getByText('The write is done.').waitFor();
  });

  browserTest('reads a write of an app again until it has settled', async () => {
    const idempotencyKey = `key-${crypto.randomUUID()}`;
    await ground.client.apps.create({ name: 'By and by' }, { idempotencyKey });
    const visited = await rig.visit({ base: ground.base, state: ground.state });
    const { page } = visited;
    let status: string | null = 'pending';
    await page.route(/\/api\/operations\?/, async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { operations: object[] };
      const operations = json.operations.map((operation) =>
        status === null ? operation : { ...operation, status, settledAt: null, response: null },
      );
      await route.fulfill({ json: { ...json, operations } });
    });
    await page.goto(`/console/operations?key=${idempotencyKey}`);
    await page.getByText('The write has begun and has no answer yet.').waitFor();
    status = null;
    await page.getByText('The write is done.').waitFor();
  });

  browserTest('an unknown key says what that means, and an id leads to its page', async () => {
    const idempotencyKey = `key-${crypto.randomUUID()}`;
    await ground.client.apps.create({ name: 'By an id' }, { idempotencyKey });
    const { items } = await ground.client.operations.list({ idempotencyKey });
    const { page } = await visit('/console/operations?key=nobody-sent-this');
    await page.getByText('No operation has this key').waitFor();
    const field = page.getByLabel('Idempotency key or operation id');
    await field.fill('not a key');
    await field.press('Enter');
    await page.getByText('A key has 1 to 128 visible ASCII characters').waitFor();
    await field.fill(items[0]!.id);
    await field.press('Enter');
    await page.waitForURL(new RegExp(`/operations/${items[0]!.id}$`));
    await page.getByText(idempotencyKey).waitFor();
  });
});

describe('the system', () => {
  browserTest('shows all parts and the configuration, and says when the service is silent', async () => {
    const proxy = await startProxy(ground.base);
    try {
      const visited = await visit('/console/system', proxy.base);
      visited.allows(/: 503$/, /net::ERR/);
      const { page } = visited;
      expect(await page.getByRole('list', { name: 'Parts' }).getByRole('listitem').count()).toBe(6);
      await page.getByText('Nothing is stuck.').waitFor();
      await page.getByRole('button', { name: 'not moved for 5 min' }).click();
      await page.getByRole('option', { name: 'not moved for 1 h' }).click();
      await page.waitForURL(/seconds=3600/);
      await page.getByLabel('Find a setting').fill('RATE_LIMIT');
      await page.waitForURL(/find=RATE_LIMIT/);
      const settings = page.getByRole('list', { name: 'Configuration' }).getByRole('listitem');
      await expect.poll(() => settings.count()).toBe(1);
      proxy.plan(({ path }) =>
        path.startsWith('/api/system') ? { kind: 'answer', status: 503, code: 'unavailable' } : null,
      );
      await page.getByText('the service does not answer').waitFor();
      proxy.plan(() => null);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText(/^Read now, again every 5 s/).waitFor();
    } finally {
      await proxy.close();
    }
  });

  browserTest('names stuck work of other organizations without a link', async () => {
    const visited = await rig.visit({ base: ground.base, state: ground.state });
    const { page } = visited;
    const [own, other] = [await organizationOf(visited), `org_${'0'.repeat(25)}1`];
    const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, '0')}`;
    const stuck = [own, other].map((orgId, n) => ({
      kind: 'apply',
      id: id('apl', n),
      orgId,
      projectId: app.id,
      threadId: id('thr', n),
      since: '2026-01-01T00:00:00.000Z',
      reason: 'No worker is alive to begin it.',
      remedy: 'Start a process with the roles worker and runner.',
    }));
    // Nothing of a service that works is stuck.
    await page.route(/\/api\/system\/stuck/, (route) =>
      route.fulfill({ json: { ok: true, stuck, nextCursor: null, hasMore: false } }),
    );
    await page.goto('/console/system');
    const items = page.getByRole('list', { name: 'Stuck work' }).getByRole('listitem');
    await items.nth(1).waitFor();
    expect(await items.nth(0).getByRole('link').getAttribute('href')).toBe(
      `/console/apps/${app.id}/applies/${id('apl', 0)}`,
    );
    expect(await items.nth(1).getByRole('link').count()).toBe(0);
    expect(await items.nth(1).innerText()).toMatch(/of another organization.*What to do: Start a process/s);
  });
});

async function organizationOf({ context }: Visit): Promise<string> {
  const answer = await context.request.get('/api/session');
  return ((await answer.json()) as { activeOrganizationId: string }).activeOrganizationId;
}
