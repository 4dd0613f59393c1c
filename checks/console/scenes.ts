/** Every page of who is signed in: where it is, what it reads, and further scenes of it for pictures. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Visit } from './browser.ts';
import { choose, folderOf } from './folders.ts';
import { skillText } from './ground.ts';
import type { WholeGround } from './ground.ts';
import { AREAS } from './areas/index.ts';
import { none } from './scene.ts';
import type { PageScene, Scene } from './scene.ts';

const app = ({ app: { id } }: WholeGround) => `/console/apps/${id}`;
const conflicted = ({ conflict }: WholeGround) => `/console/apps/${conflict.app.id}`;

export const PAGES: PageScene[] = [
  {
    name: 'inbox',
    path: () => '/console/',
    read: /^GET \/api\/platform\/v1\/(threads|applies|builds)/,
    empty: 'service',
  },
  {
    name: 'apps',
    path: () => '/console/apps',
    read: /^GET \/api\/platform\/v1\/apps(\?|$)/,
    empty: 'service',
  },
  {
    name: 'race',
    path: app,
    read: /source-head\/history|\/threads\?/,
    unknown: ({ app: { id } }) => `/console/apps/${none(id)}`,
    empty: (appId) => `/console/apps/${appId}`,
  },
  { name: 'settings', path: (ground) => `${app(ground)}/settings`, read: /\/projects\/[^/]+\/settings/ },
  {
    name: 'settings-of-organization',
    path: () => '/console/organization/settings',
    read: /^GET \/api\/settings/,
  },
  {
    name: 'variables',
    path: (ground) => `${app(ground)}/environment`,
    read: /\/projects\/[^/]+\/environment/,
  },
  {
    name: 'variables-of-organization',
    path: () => '/console/organization/environment',
    read: /^GET \/api\/environment/,
    empty: 'service',
  },
  {
    name: 'skills',
    path: (ground) => `${app(ground)}/skills`,
    read: /\/projects\/[^/]+\/skills/,
  },
  {
    name: 'skills-of-organization',
    path: () => '/console/organization/skills',
    read: /^GET \/api\/skills/,
    empty: 'service',
  },
  {
    name: 'sources',
    path: (ground) => `${app(ground)}/sources`,
    read: /\/projects\/[^/]+\/sources(\?|$)/,
    empty: (appId) => `/console/apps/${appId}/sources`,
  },
  {
    name: 'source',
    path: (ground) => `${app(ground)}/sources/${ground.app.sourceId}`,
    read: /\/sources\/src_[^/?]+/,
    unknown: (ground) => `${app(ground)}/sources/${none(ground.app.sourceId)}`,
  },
  {
    name: 'search',
    path: (ground) => `${app(ground)}/sources/${ground.app.sourceId}?q=amount`,
    read: /\/search\?/,
    unknown: (ground) => `${app(ground)}/sources/${none(ground.app.sourceId)}?q=amount`,
  },
  {
    name: 'diff',
    path: (ground) =>
      `${app(ground)}/diff?from=${ground.app.sourceId}&to=${ground.threads.completed.latestSourceId}`,
    read: /\/diff\?/,
    unknown: (ground) => `${app(ground)}/diff?from=${ground.app.sourceId}&to=${none(ground.app.sourceId)}`,
  },
  {
    name: 'thread',
    path: (ground) => `${app(ground)}/threads/${ground.threads.completed.id}`,
    read: /\/threads\/thr_[^/?]+($|\?)/,
    unknown: (ground) => `${app(ground)}/threads/${none(ground.threads.completed.id)}`,
  },
  {
    name: 'conflicts',
    path: (ground) => `${conflicted(ground)}/threads/${ground.conflict.thread.id}/apply`,
    read: /\/apply\/preview$|\/applies/,
    unknown: (ground) => `${conflicted(ground)}/threads/${none(ground.conflict.thread.id)}/apply`,
  },
  {
    name: 'applies',
    path: (ground) => `${app(ground)}/applies`,
    read: /\/applies(\?|$)/,
    empty: (appId) => `/console/apps/${appId}/applies`,
  },
  {
    name: 'apply',
    path: (ground) => `${conflicted(ground)}/applies/${ground.conflict.apply.id}`,
    read: /\/applies\/apl_/,
    unknown: (ground) => `${conflicted(ground)}/applies/${none(ground.conflict.apply.id)}`,
  },
  {
    name: 'builds',
    path: (ground) => `${app(ground)}/builds`,
    read: /\/builds(\?|$)/,
    empty: (appId) => `/console/apps/${appId}/builds`,
  },
  {
    name: 'build',
    path: (ground) => `${app(ground)}/builds/${ground.builds.ready.id}`,
    read: /\/builds\/bld_[^/]+($|\?)/,
    unknown: (ground) => `${app(ground)}/builds/${none(ground.builds.ready.id)}`,
  },
  {
    name: 'previews',
    path: (ground) => `${app(ground)}/previews`,
    read: /\/previews(\?|$)/,
    empty: (appId) => `/console/apps/${appId}/previews`,
  },
  {
    name: 'preview',
    path: (ground) => `${app(ground)}/previews/${ground.preview.id}`,
    read: /\/previews\/prv_/,
    unknown: (ground) => `${app(ground)}/previews/${none(ground.preview.id)}`,
  },
  {
    name: 'setups',
    path: ({ setups }) => `/console/apps/${setups.app.id}/setups`,
    read: /\/setups(\?|$)/,
    empty: (appId) => `/console/apps/${appId}/setups`,
  },
  {
    name: 'setup',
    path: ({ setups }) => `/console/apps/${setups.app.id}/setups/${setups.ready.id}`,
    read: /\/setups\/set_[^/]+($|\?)/,
    unknown: ({ setups }) => `/console/apps/${setups.app.id}/setups/${none(setups.ready.id)}`,
  },
  { name: 'account', path: () => '/console/account', read: /^GET \/api\/sessions/ },
  ...AREAS.flatMap(({ pages }) => pages),
];

const press = (keys: string) => async (visit: Visit) => {
  await visit.page.keyboard.press(keys);
  // Its code comes when it is first opened.
  await visit.page.getByRole('dialog').waitFor();
};
const ofThread =
  (name: keyof WholeGround['threads'], panel = '') =>
  (ground: WholeGround) =>
    `${app(ground)}/threads/${ground.threads[name].id}${panel && `?panel=${panel}`}`;

/** The code on each side has its colours: they come from a worker, after the text. */
const coloured = (visit: Visit) =>
  visit.page.locator('[data-side]:visible:not(:has([class*="tok-"]))').first().waitFor({ state: 'detached' });

/** What pictures show: every page, and some of them in another state. */
export const SCENES: Scene[] = [
  ...PAGES,
  {
    name: 'variable-form',
    path: (ground) => `${app(ground)}/environment`,
    async prepare({ page }) {
      await page.getByRole('button', { name: 'Change API_TOKEN' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'variables-import',
    path: (ground) => `${app(ground)}/environment`,
    async prepare({ page }) {
      await page.getByRole('button', { name: 'Import' }).click();
      const text = 'API_URL=https://api.example.test\nSTRIPE_KEY="sk_test_51H8"\n9_LIVES=no\n';
      await page.getByRole('textbox', { name: 'Text of a .env file' }).fill(text);
    },
  },
  {
    name: 'skill-read',
    path: (ground) => `${app(ground)}/skills`,
    async prepare({ page }) {
      await page.getByRole('button', { name: 'Read release-notes' }).click();
      await page.getByText('Write one line for each change.').waitFor();
    },
  },
  {
    name: 'skill-new',
    path: (ground) => `${app(ground)}/skills`,
    async prepare({ page }) {
      await page.getByRole('button', { name: 'New skill' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'skill-upload',
    path: (ground) => `${app(ground)}/skills`,
    async prepare({ page }) {
      await page.getByRole('button', { name: 'Replace release-notes' }).click();
      const folder = folderOf(join(mkdtempSync(join(tmpdir(), 'headrace-skill-')), 'release-notes'), {
        'SKILL.md': skillText('release-notes', 'How to write release notes.'),
        'node_modules/left-pad/index.js': '',
      });
      await choose(page, folder);
      await page.getByRole('textbox', { name: 'Name' }).waitFor();
    },
  },
  { name: 'palette', path: () => '/console/', prepare: press('ControlOrMeta+k') },
  { name: 'keys', path: () => '/console/', prepare: press('?') },
  { name: 'no-such-page', path: () => '/console/nowhere' },
  { name: 'no-such-app', path: ({ app: { id } }) => `/console/apps/${none(id)}` },
  { name: 'bad-search', path: (ground) => `${app(ground)}/builds?status=odd` },
  { name: 'race-table', path: (ground) => `${app(ground)}?show=table` },
  { name: 'thread-running', path: ofThread('running') },
  { name: 'thread-waiting', path: ofThread('waiting') },
  { name: 'thread-failed', path: ofThread('failed') },
  { name: 'thread-queued', path: ofThread('queued') },
  { name: 'thread-changes', path: ofThread('completed', 'changes') },
  { name: 'thread-files', path: ofThread('completed', 'files') },
  { name: 'thread-preview', path: ofThread('completed', 'preview') },
  { name: 'thread-terminal', path: ofThread('completed', 'terminal') },
  { name: 'thread-builds', path: ofThread('completed', 'builds') },
  { name: 'thread-events', path: ofThread('completed', 'events') },
  { name: 'thread-runs', path: ofThread('completed', 'runs') },
  { name: 'thread-fork', path: (ground) => `${app(ground)}/threads/${ground.fork.id}` },
  {
    name: 'thread-fork-unfolded',
    path: (ground) => `${app(ground)}/threads/${ground.fork.id}`,
    prepare: ({ page }) => page.getByRole('button', { name: /^From / }).click(),
  },
  {
    name: 'fork',
    path: ofThread('completed'),
    async prepare({ page }) {
      await page.getByRole('button', { name: 'More about this thread' }).click();
      await page.getByRole('menuitem', { name: 'Fork' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'thread-conflicted',
    path: (ground) => `${conflicted(ground)}/threads/${ground.conflict.thread.id}`,
  },
  {
    name: 'conflict-content',
    path: (ground) => `${conflicted(ground)}/threads/${ground.conflict.thread.id}/apply?path=src/prices.ts`,
    prepare: coloured,
  },
  {
    name: 'conflict-binary',
    path: (ground) => `${conflicted(ground)}/threads/${ground.conflict.thread.id}/apply?path=assets/logo.png`,
  },
  {
    name: 'diff-split',
    path: (ground) =>
      `${app(ground)}/diff?from=${ground.app.sourceId}&to=${ground.threads.completed.latestSourceId}&view=split`,
  },
  {
    name: 'source-file',
    path: (ground) => `${app(ground)}/sources/${ground.app.sourceId}?file=src/cart.ts`,
  },
  {
    name: 'search-empty',
    path: (ground) => `${app(ground)}/sources/${ground.app.sourceId}?q=nowhere`,
  },
  {
    name: 'search-refused',
    path: (ground) => `${app(ground)}/sources/${ground.app.sourceId}?q=(a&regex=true`,
  },
  {
    name: 'setup-failed',
    path: ({ setups }) => `/console/apps/${setups.app.id}/setups/${setups.failed.id}`,
  },
  {
    name: 'setup-running',
    path: ({ setups }) => `/console/apps/${setups.app.id}/setups/${setups.running.id}`,
  },
  {
    name: 'setup-settings',
    path: ({ setups }) => `/console/apps/${setups.app.id}/settings`,
    async prepare({ page }) {
      await page.getByRole('textbox', { name: 'Files that it needs' }).fill('README.md\n../else');
      await page.getByRole('heading', { name: 'Setup', exact: true }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'thread-setup-failed',
    path: ({ setups }) => `/console/apps/${setups.app.id}/threads/${setups.thread.id}`,
  },
  {
    name: 'thread-setup-running',
    path: ({ setups }) => `/console/apps/${setups.app.id}/threads/${setups.waiting.id}`,
  },
  { name: 'build-failed', path: (ground) => `${app(ground)}/builds/${ground.builds.failed.id}` },
  { name: 'build-building', path: (ground) => `${app(ground)}/builds/${ground.builds.building.id}` },
  { name: 'build-files', path: (ground) => `${app(ground)}/builds/${ground.builds.ready.id}?part=files` },
  ...AREAS.flatMap(({ scenes }) => scenes),
];
