/** Faults amid a send of decisions: nothing that is decided or typed is lost, and it is applied once. */
import { afterAll, beforeAll, expect } from 'vitest';
import type { Visit } from '../browser.ts';
import { moveHead, startGround, untilThread } from '../ground.ts';
import type { Diverged, Ground } from '../ground.ts';
import { open } from '../page.ts';
import { startProxy } from '../proxy.ts';
import type { Fault, Proxy } from '../proxy.ts';
import { browserTest, useBrowser } from '../rig.ts';
import {
  decideAll,
  expectApplied,
  expectGoesOnSignedIn,
  expectKept,
  isApply,
  isEdit,
  keysOf,
  once,
  OWN,
  pageOf,
  press,
  threeConflicts,
} from '../sends.ts';

const rig = useBrowser();
let ground: Ground;
let proxy: Proxy;
beforeAll(async () => {
  ground = await startGround();
  proxy = await startProxy(ground.base);
}, 60_000);
afterAll(async () => {
  await proxy?.close();
  await ground?.stop();
});

/** A page with three decisions that are not sent yet. */
async function decided(...allowed: RegExp[]): Promise<Visit & { made: Diverged }> {
  proxy.plan(() => null);
  const made = await threeConflicts(ground.client);
  const visit = await rig.visit({ base: proxy.base, state: ground.state });
  visit.allows(/net::ERR/, ...allowed);
  await decideAll(visit, made);
  return { ...visit, made };
}

/** The service has done it, whether or not the page knows. */
async function untilDone(is: typeof isEdit, { app, threadId, sourceId }: Diverged): Promise<void> {
  await untilThread(ground.client, app, threadId, ({ latestSourceId, blockedOn, sealedAt }) =>
    is === isEdit ? latestSourceId !== sourceId : blockedOn.length > 0 || sealedAt !== null,
  );
}

browserTest('a session that ends before the edit', async () => {
  proxy.plan(() => null);
  const made = await threeConflicts(ground.client);
  const visit = await rig.visit({ base: proxy.base, state: ground.state });
  await expectGoesOnSignedIn({ client: ground.client, visit, proxy, made, is: isEdit });
});

/** The page gets the rest of an answer 401 to an edit once it is let go. */
const HOLD = `{
  const { fetch } = window;
  const held = new Promise((resolve) => (window.letGo = resolve));
  window.fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.status !== 401 || !answer.url.endsWith('/edits')) return answer;
    const text = await answer.text();
    const body = new ReadableStream({
      pull: (stream) => held.then(() => (stream.enqueue(new TextEncoder().encode(text)), stream.close())),
    });
    return new Response(body, answer);
  };
}`;

browserTest('a session that ends before the edit, which is read only after the new sign-in', async () => {
  proxy.plan(() => null);
  const made = await threeConflicts(ground.client);
  const visit = await rig.visit({ base: proxy.base, state: ground.state, trap: HOLD });
  await expectGoesOnSignedIn({
    client: ground.client,
    visit,
    proxy,
    made,
    is: isEdit,
    afterwards: () => visit.page.evaluate('window.letGo()'),
  });
});

const ANSWERS: [string, Fault & { kind: 'answer' }][] = [
  ['429', { kind: 'answer', status: 429, code: 'rate_limited', retryAfterSeconds: 1 }],
  ['503', { kind: 'answer', status: 503, code: 'unavailable', retryAfterSeconds: 1 }],
];

browserTest.for(ANSWERS)('%s with a short wait: the send goes on by itself', async ([, fault]) => {
  for (const is of [isEdit, isApply]) {
    const { page, made } = await decided(/^POST .*: (429|503)$/);
    once(proxy, is, fault);
    await press(page);
    await expectApplied(ground.client, page, made);
  }
});

browserTest.for(ANSWERS)(
  '%s with a long wait: the page says so, and sends again when asked',
  async ([, fault]) => {
    const { page, made } = await decided(/^POST .*: (429|503)$/);
    once(proxy, isApply, { ...fault, retryAfterSeconds: 600 });
    await press(page);
    await page.getByText('Nothing is lost: apply again when it works.').waitFor();
    await press(page);
    await expectApplied(ground.client, page, made);
  },
);

browserTest('offline on the way: the answer is lost, and the send is repeated under its key', async () => {
  for (const is of [isEdit, isApply]) {
    const visit = await decided();
    const { page, made } = visit;
    const keys = keysOf(visit, is === isEdit ? '/edits' : '/apply');
    // The service does it, but the browser is offline by then.
    once(proxy, is, { kind: 'stall', after: 0 });
    await press(page);
    await untilDone(is, made);
    await visit.context.setOffline(true);
    proxy.release();
    await page.getByText(/^Offline\. This is from/).waitFor();
    await visit.context.setOffline(false);
    await expectApplied(ground.client, page, made);
    expect(keys.size).toBe(1);
  }
});

browserTest(
  'offline for longer than the page tries: it is sent again when asked',
  { timeout: 180_000 },
  async () => {
    const visit = await decided();
    const { page, made } = visit;
    const keys = keysOf(visit, '/edits');
    proxy.plan((asked) => (isEdit(asked) ? { kind: 'refuse' } : null));
    await press(page);
    await page.getByText('Nothing is lost: apply again when it works.').waitFor({ timeout: 90_000 });
    await expectKept(ground.client, page, made);
    proxy.plan(() => null);
    await press(page);
    await expectApplied(ground.client, page, made);
    expect(keys.size).toBe(1);
  },
);

browserTest('a reload on the way: what has reached the service is not done twice', async () => {
  for (const is of [isEdit, isApply]) {
    const visit = await decided();
    const { page, made } = visit;
    once(proxy, is, { kind: 'stall', after: 0 });
    await press(page);
    await untilDone(is, made);
    await page.reload();
    if (is === isEdit) {
      await expectKept(ground.client, page, made);
      await press(page);
    }
    await expectApplied(ground.client, page, made);
  }
});

browserTest('a reload before the service has heard: the key is kept', async () => {
  const visit = await decided();
  const { page, made } = visit;
  const keys = keysOf(visit, '/edits');
  proxy.plan((asked) => (isEdit(asked) ? { kind: 'refuse' } : null));
  await press(page);
  await expect.poll(() => keys.size).toBe(1);
  await page.reload();
  proxy.plan(() => null);
  await expectKept(ground.client, page, made);
  await press(page);
  await expectApplied(ground.client, page, made);
  expect(keys.size).toBe(1);
});

browserTest(
  'the head moves on the way: equal conflicts keep their decision, and nothing is sent by itself',
  async () => {
    for (const is of [isEdit, isApply]) {
      const { page, made } = await decided(/^POST .*: 409$/);
      const { app, threadId } = made;
      once(proxy, is, {
        kind: 'after',
        until: () => moveHead(ground.client, app, [{ path: 'b.txt', content: 'another head\n' }]),
      });
      await press(page);
      await page.getByText('The head has moved since you decided').waitFor();
      await page.getByText('1 conflict open, 1 moved since you decided').waitFor();
      expect((await ground.client.applies.list(app.id, { threadId })).items).toEqual([]);
      await page.keyboard.press('n');
      await page.getByRole('article').getByRole('heading', { name: 'b.txt' }).waitFor();
      await page.keyboard.press('2');
      await press(page);
      await page.getByText('as revision 4').waitFor();
      const { headSourceId } = await ground.client.apps.get(app.id);
      const contentAt = async (path: string) =>
        (await ground.client.sources.file(app.id, headSourceId!, { path })).content;
      expect(await Promise.all(['a.txt', 'b.txt', 'c.txt'].map(contentAt))).toEqual([
        OWN,
        'draft\n',
        'draft\n',
      ]);
    }
  },
);

browserTest('another tab decides on the way: its decision stays', async () => {
  const visit = await decided(/^POST .*: 409$/);
  const { page, made } = visit;
  const decides = Promise.withResolvers<void>();
  proxy.plan((asked) => {
    if (isEdit(asked)) return { kind: 'after', until: () => decides.promise };
    if (!isApply(asked)) return null;
    return {
      kind: 'after',
      until: () => moveHead(ground.client, made.app, [{ path: 'b.txt', content: 'another head\n' }]),
    };
  });
  await press(page);
  await page.getByRole('button', { name: 'Applying' }).waitFor();
  const other = await visit.newTab();
  await other.goto(`${pageOf(made)}?path=c.txt`);
  await other.getByText('3 of 3 decided').waitFor();
  await other.getByRole('article').getByRole('heading', { name: 'c.txt' }).waitFor();
  await other.keyboard.press('1');
  for (const tab of [other, page])
    await tab.locator('[aria-label="Decision"] [aria-pressed="true"]', { hasText: 'head' }).waitFor();
  decides.resolve();
  await page.getByText('The head has moved since you decided').waitFor();
  await page.getByText('1 conflict open, 1 moved since you decided').waitFor();
  proxy.plan(() => null);
  await page.keyboard.press('n');
  await page.getByRole('article').getByRole('heading', { name: 'b.txt' }).waitFor();
  await page.keyboard.press('2');
  await press(page);
  await page.getByText('as revision 4').waitFor();
  const { headSourceId } = await ground.client.apps.get(made.app.id);
  const contentAt = async (path: string) =>
    (await ground.client.sources.file(made.app.id, headSourceId!, { path })).content;
  expect(await Promise.all(['a.txt', 'b.txt', 'c.txt'].map(contentAt))).toEqual([OWN, 'draft\n', 'head\n']);
});

browserTest('who leaves the page on the way stops it, is told so, and goes on from there', async () => {
  const visit = await decided();
  const { page, made } = visit;
  const leaves = Promise.withResolvers<void>();
  proxy.plan((asked) => (isEdit(asked) ? { kind: 'after', until: () => leaves.promise } : null));
  await press(page);
  await page.getByRole('button', { name: 'Applying' }).waitFor();
  await page.evaluate(`history.pushState({}, '', '/console/apps/${made.app.id}')`);
  await page.getByText('All conflicts are decided').waitFor({ state: 'detached' });
  leaves.resolve();
  await page.getByText('The draft was not applied: you left its page.').waitFor();
  await page.goBack();
  await expectKept(ground.client, page, made);
  proxy.plan(() => null);
  proxy.forget();
  await press(page);
  await expectApplied(ground.client, page, made);
  expect(proxy.asked().filter(isEdit)).toEqual([]);
});

browserTest(
  'the head takes its file back that went into the draft: it is said before the apply',
  async () => {
    const visit = await decided(/: 409$/);
    const { page, made } = visit;
    const { app, threadId, sourceId } = made;
    // As a round does it.
    await ground.client.edits.create(app.id, threadId, {
      expectedSourceId: sourceId,
      changes: [{ path: 'b.txt', content: 'head\n' }],
    });
    await moveHead(ground.client, app, [{ path: 'b.txt', content: 'base\n' }]);
    await open(visit, pageOf(made));
    await page.getByRole('button', { name: 'Apply 2 decisions' }).click();
    await page.getByText('The result does not have the head’s side at b.txt.').waitFor();
    expect((await ground.client.applies.list(app.id, { threadId })).items).toEqual([]);
    await page.getByRole('button', { name: 'Apply with the draft’s side' }).click();
    await page.getByText('as revision 4').waitFor();
  },
);
