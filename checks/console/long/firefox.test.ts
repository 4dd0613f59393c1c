/** The main way through the console in Firefox. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Thread } from '@headrace/client';
import { OWNER } from '../../harness/service.ts';
import { click, seen, there, visitByFirefox } from '../firefox.ts';
import { completedThread, conflictedApply, makeApp, preview, sh, startGround } from '../ground.ts';
import type { App, Conflict, Ground } from '../ground.ts';

const firefox = inject('firefox');

let ground: Ground;
let app: App;
let thread: Thread;
let conflict: Conflict;
beforeAll(async () => {
  if (firefox === null) return;
  ground = await startGround();
  app = await makeApp(ground.client);
  thread = await completedThread(ground.client, app);
  conflict = await conflictedApply(ground.client);
});
afterAll(() => ground?.stop());

test.skipIf(firefox === null)(
  'sign-in, apps, the race, a thread, a difference, a conflict, a preview',
  async () => {
    const { client, base } = ground;
    // Nobody is signed in at first.
    const visit = await visitByFirefox(firefox!, [/\/api\/session: 401$/]);
    const { page, problems } = visit;
    try {
      await page.goto(`${base}/console/apps`);
      await click(page, 'input[type=email]');
      await page.keyboard.type(OWNER.email);
      await click(page, 'input[type=password]');
      await page.keyboard.type(OWNER.password);
      await page.keyboard.press('Enter');
      await seen(page, 'Seven conflicts');
      await click(page, 'main a', 'Checkout');
      await click(page, 'main a', 'Show the total above the button');
      await click(page, 'textarea');
      await page.keyboard.type(sh('echo said by Firefox > said.txt; cat said.txt'));
      await page.keyboard.down('Control');
      await page.keyboard.press('Enter');
      await page.keyboard.up('Control');
      await seen(page, 'Ran echo said by Firefox');
      await there(page, '[data-live="live"]');
      await client.threads.update(app.id, thread.id, { title: 'Said from elsewhere' });
      await seen(page, 'Said from elsewhere');
      await page.goto(`${base}/console/apps/${app.id}/diff?from=${app.sourceId}&to=${thread.latestSourceId}`);
      await there(page, '[data-file="src/cart.ts"] .diff-added');
      await page.goto(
        `${base}/console/apps/${conflict.app.id}/threads/${conflict.thread.id}/apply?path=src/prices.ts`,
      );
      await click(page, 'button', 'Edit the result');
      await there(page, '.cm-content[contenteditable=true]');
      const shown = await preview(client, app);
      await page.goto(`${base}/console/apps/${app.id}/previews/${shown.id}`);
      await there(page, 'iframe');
      await expect.poll(() => page.frames().length).toBe(2);
      await seen(
        page.frames().find((one) => one.parentFrame() !== null)!,
        'Checkout',
      );
      expect(problems()).toEqual([]);
    } finally {
      await visit.close();
    }
  },
);
