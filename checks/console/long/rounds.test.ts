/** More conflicts than one apply takes decisions. */
import type { Client } from '@headrace/client';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { diverged, startGround } from '../ground.ts';
import type { Diverged, Ground } from '../ground.ts';
import { atRest, open } from '../page.ts';
import { startProxy } from '../proxy.ts';
import type { Proxy } from '../proxy.ts';
import { browserTest, useBrowser } from '../rig.ts';
import { isApply, isEdit, pageOf } from '../sends.ts';

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

const conflictsAt = (client: Client, paths: readonly string[]): Promise<Diverged> => {
  const all = (content: string) => paths.map((path) => ({ path, content }));
  return diverged(client, 'Many conflicts', {
    base: all('base\n'),
    draft: all('draft\n'),
    head: all('head\n'),
  });
};

/** The files of the new head that are the draft's. */
async function draftsIn(client: Client, { app, threadId }: Diverged): Promise<string[]> {
  const applies = await client.applies.list(app.id, { threadId });
  expect(applies.items.map(({ status }) => status)).toEqual(['applied']);
  const [{ resultSourceId, headSourceId }] = applies.items as [(typeof applies.items)[number]];
  expect((await client.head.get(app.id)).sourceId).toBe(resultSourceId);
  const { files } = await client.sources.diff(app.id, resultSourceId!, {
    base: headSourceId!,
    patches: false,
  });
  return files.map(({ path }) => path);
}

browserTest('by folders: a side for all, another below one of them, and one file apart', async () => {
  const paths = Array.from(
    { length: 1200 },
    (_, i) => `src/${'abc'[i % 3]}/${String(i).padStart(4, '0')}.ts`,
  );
  const made = await conflictsAt(ground.client, paths);
  proxy.plan(() => null);
  const visit = await rig.visit({ base: proxy.base, state: ground.state });
  const { page } = visit;
  for (const [at, key, decided] of [
    ['src/', '1', '1,?200 of 1,?200'],
    ['src/b/', '2', '1,?200 of 1,?200'],
    ['src/a/0003.ts', '2', '1,?200 of 1,?200'],
  ] as const) {
    await open(visit, `${pageOf(made)}?path=${at}`);
    await page.getByRole('article').getByRole('heading', { level: 2 }).waitFor();
    await page.keyboard.press(key);
    await page.getByText(new RegExp(`^${decided} decided`)).waitFor();
    await atRest(visit);
  }
  proxy.forget();
  await page.getByRole('button', { name: /^Apply 1,?200 decisions/ }).click();
  await page.getByText('as revision 3').waitFor();
  expect(proxy.asked().filter(isEdit)).toEqual([]);
  expect(await draftsIn(ground.client, made)).toEqual(
    paths.filter((path) => path.startsWith('src/b/') || path === 'src/a/0003.ts').toSorted(),
  );
});

browserTest(
  'in rounds: the head’s files go into the draft until the rest fits; a reload amid them goes on',
  async () => {
    const paths = Array.from({ length: 2600 }, (_, i) => `src/${String(i).padStart(4, '0')}.ts`);
    const made = await conflictsAt(ground.client, paths);
    proxy.plan(() => null);
    const visit = await rig.visit({ base: proxy.base, state: ground.state });
    visit.allows(/net::ERR/);
    const { page } = visit;
    await open(visit, pageOf(made));
    await decideEverySecond(page, made);
    await open(visit, pageOf(made));
    await page.getByText('301 files of the head will go into the draft').waitFor();
    // The second round is done, but the page does not hear of it.
    let edits = 0;
    proxy.plan((asked) => (isEdit(asked) && ++edits === 2 ? { kind: 'stall', after: 0 } : null));
    const apply = page.getByRole('button', { name: /^Apply 2,?\d+ decisions/ });
    await apply.focus();
    await page.keyboard.press('Enter');
    await page.getByText('Files of the head that still go into the draft: 101.').waitFor();
    const inDraft = async () => {
      const { latestSourceId } = await ground.client.threads.get(made.app.id, made.threadId);
      const base = (await ground.client.head.get(made.app.id)).sourceId;
      return (await ground.client.sources.diff(made.app.id, latestSourceId!, { base, patches: false })).files
        .length;
    };
    await expect.poll(inDraft, { timeout: 60_000 }).toBe(2600 - 301);
    await page.reload();
    proxy.release();
    proxy.plan(() => null);
    proxy.forget();
    await page.getByText('All conflicts are decided').waitFor();
    await page.getByRole('button', { name: /^Apply 2,?299 decisions/ }).click();
    await page.getByText('as revision 3').waitFor({ timeout: 60_000 });
    expect(proxy.asked().filter(isEdit)).toEqual([]);
    expect(proxy.asked().filter(isApply).length).toBe(1);
    expect(await draftsIn(ground.client, made)).toEqual(paths.filter((_, i) => i % 2 === 1));
  },
);

/** As the page keeps them: thousands of keys would take minutes. */
async function decideEverySecond(page: Page, { app, threadId, sourceId }: Diverged): Promise<void> {
  const { conflicts } = await ground.client.applies.preview(app.id, threadId, { expectedSourceId: sourceId });
  const entries = conflicts.map(({ path, kind, base, head, draft }, i) => ({
    path,
    kind,
    base,
    head,
    draft,
    choice: i % 2 ? 'draft' : 'head',
    own: null,
    to: null,
    isMoved: false,
  }));
  await page.evaluate(`(async () => {
    const { user } = await (await fetch('/api/session')).json();
    const opened = indexedDB.open('headrace-conflicts', 1);
    await new Promise((done) => { opened.onsuccess = done; });
    const change = opened.result.transaction('decisions', 'readwrite');
    change.objectStore('decisions').put({ at: Date.now(), entries: ${JSON.stringify(entries)} }, user.id + ':${threadId}');
    await new Promise((done) => { change.oncomplete = done; });
    opened.result.close();
  })()`);
}
