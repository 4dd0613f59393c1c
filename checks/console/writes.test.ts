/** What a person has typed stays when a write is refused or fails, and the page says why. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { makeApp, untilThread } from './ground.ts';
import type { App, Site } from './ground.ts';
import { open, visitAt } from './page.ts';
import { startProxy } from './proxy.ts';
import type { Fault, Proxy } from './proxy.ts';
import { browserTest, useBrowser, sharedSite } from './rig.ts';

const rig = useBrowser();
let ground: Site;
let app: App;
let threadId: string;
let proxy: Proxy;

beforeAll(async () => {
  ground = sharedSite();
  proxy = await startProxy(ground.base);
  app = await makeApp(ground.client);
  threadId = (await ground.client.threads.create(app.id, { title: 'Talk' })).thread.id;
  await untilThread(ground.client, app, threadId, ({ status }) => status === 'ready');
}, 60_000);
afterAll(() => proxy?.close());

/** The client repeats the last two until it would take too long: so these ask for a long wait. */
const REFUSALS: [number, string, number?][] = [
  [400, 'invalid_request'],
  [403, 'forbidden'],
  [404, 'thread_not_found'],
  [409, 'thread_busy'],
  [413, 'request_too_large'],
  [429, 'rate_limited', 600],
  [503, 'unavailable', 600],
];
const TEXT = 'Make it blue, and the button <b>round</b>.';

describe('a message', () => {
  browserTest(
    'stays when it is refused, over a reload too, and is sent once',
    { timeout: 90_000 },
    async () => {
      const visit = await visitAt(rig, `/console/apps/${app.id}/threads/${threadId}`, {
        base: proxy.base,
        state: ground.state,
      });
      visit.allows(/^POST .*: \d+$/, /net::ERR/);
      const field = visit.page.getByRole('textbox', { name: 'Message' });
      const said = visit.page.locator('#composer-fault');
      await field.fill(TEXT);
      for (const [status, code, retryAfterSeconds] of REFUSALS) {
        const fault: Fault = { kind: 'answer', status, code, retryAfterSeconds };
        proxy.plan(({ method, path }) => (method === 'POST' && path.endsWith('/messages') ? fault : null));
        await field.press('ControlOrMeta+Enter');
        await expect.poll(() => said.innerText(), { message: `${status}` }).toMatch(/req_of_the_test/);
        expect(await field.inputValue(), `${status}`).toBe(TEXT);
        // The next refusal is told from this one.
        await field.fill(`${TEXT} `);
        await field.fill(TEXT);
      }
      // The write is done, but its answer is lost.
      const sent = async () => {
        const { items } = await ground.client.messages.list(app.id, threadId);
        return items.filter(({ content }) => content === TEXT).length;
      };
      proxy.plan(({ method, path }) =>
        method === 'POST' && path.endsWith('/messages') ? { kind: 'cut', after: 1 } : null,
      );
      await field.press('ControlOrMeta+Enter');
      await expect.poll(sent).toBe(1);
      expect(await field.inputValue()).toBe(TEXT);
      await open(visit, `/console/apps/${app.id}/threads/${threadId}`);
      expect(await field.inputValue()).toBe(TEXT);
      proxy.plan(() => null);
      await field.press('ControlOrMeta+Enter');
      await expect.poll(() => field.inputValue()).toBe('');
      expect(await sent()).toBe(1);
    },
  );
});

describe('a form', () => {
  browserTest('stays open with what was typed, and names the field', async () => {
    const visit = await visitAt(rig, '/console/apps', { base: proxy.base, state: ground.state });
    visit.allows(/^POST .*: \d+$/);
    const { page } = visit;
    // Other files use the same service, and a run may be repeated.
    const [taken, free] = [crypto.randomUUID(), crypto.randomUUID()];
    await page.getByRole('button', { name: 'Create an app' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create an app' });
    await dialog.getByLabel('Name').fill('Second');
    await dialog.getByLabel('External id').fill(taken);
    await ground.client.apps.create({ name: 'First', externalId: taken });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').first().waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Second');
    await dialog.getByLabel('External id').fill(free);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await ground.client.apps.list({ externalId: free })).items[0]?.name).toBe('Second');
  });
});
