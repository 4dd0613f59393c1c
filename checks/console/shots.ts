/**
 * `node checks/console/shots.ts`: pictures of the console's scenes, light and dark, 1280 and 390 pixels wide.
 *
 *   --out <folder>   where to (a folder in the system's temporary folder)
 *   --only <name>    one scene (may be repeated); a beginning is enough
 *   --docs           only those that the guides and the README show, into docs/images
 *   --some           light at 1280 pixels and dark at 390 only
 *   --twice          takes each picture twice and says which scenes are not stable
 *   --help
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { helpOf } from '../harness/help.ts';
import { launchBrowser, openVisit } from './browser.ts';
import type { Visit } from './browser.ts';
import { startWholeGround } from './ground.ts';
import type { WholeGround } from './ground.ts';
import { open } from './page.ts';
import { SCENES } from './scenes.ts';
import type { Scene } from './scene.ts';

const WIDTHS = [
  [1280, 800],
  [390, 844],
] as const;
const THEMES = ['light', 'dark'] as const;
/** Scenes of docs/guides/console.md and the README. */
const IN_DOCS = [
  'inbox',
  'race',
  'thread',
  'conflict-content',
  'diff',
  'pull-request-blocked',
  'tasks',
  'automation',
  'service-accounts-new',
  'webhook',
  'events',
  'system',
];

/** What went wrong in pages. */
const said = new Set<string>();

const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: join(tmpdir(), 'headrace-console-shots') },
    only: { type: 'string', multiple: true },
    docs: { type: 'boolean', default: false },
    some: { type: 'boolean', default: false },
    twice: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (options.help)
  console.log(`${helpOf(import.meta.filename)}\n\nScenes: ${SCENES.map(({ name }) => name).join(', ')}`);
else await main();

async function main(): Promise<void> {
  const folder = options.docs ? join(import.meta.dirname, '../../docs/images') : resolve(options.out);
  mkdirSync(folder, { recursive: true });
  const scenes = SCENES.filter(({ name }) =>
    options.docs ? IN_DOCS.includes(name) : (options.only?.some((only) => name.startsWith(only)) ?? true),
  );
  // The pictures are of the present sources.
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/setup.mjs')], {
    stdio: 'inherit',
  });
  const ground = await startWholeGround();
  const browser = await launchBrowser();
  try {
    for (const theme of THEMES)
      for (const [width, height] of options.docs ? WIDTHS.slice(0, 1) : WIDTHS) {
        if (options.some && (theme === 'light') !== (width === 1280)) continue;
        const { base, state } = ground;
        const visit = await openVisit(browser, { base, state, isStill: true, theme, width, height });
        visit.allows(/: 404$/, /\/search\?.*: 400$/);
        for (const scene of scenes) {
          const name = options.docs ? `console-${scene.name}-${theme}` : `${scene.name}-${width}-${theme}`;
          const picture = await pictureOf(scene, visit, ground);
          writeFileSync(join(folder, `${name}.png`), picture);
          const differing = options.twice ? difference(picture, await pictureOf(scene, visit, ground)) : 0;
          if (differing > 0) said.add(`${name} is not stable: ${differing} pixels differ`);
        }
        // A picture of what is wrong is wanted, too.
        await visit.close().catch((error: Error) => said.add(error.message.replace(/\n {4}at .*/g, '')));
      }
  } finally {
    await browser.close();
    await ground.stop();
  }
  for (const line of said) console.error(line);
  console.log(folder);
}

async function pictureOf({ path, prepare }: Scene, visit: Visit, ground: WholeGround): Promise<Buffer> {
  try {
    await open(visit, path(ground));
    await prepare?.(visit);
    await visit.page.evaluate('document.fonts.ready.then(() => {})');
  } catch (error) {
    said.add(`${path(ground)}: ${(error as Error).message.split('\n')[0]}`);
  }
  return visit.page.screenshot({ animations: 'disabled', caret: 'hide' });
}

/** How many pixels differ; all of them if the sizes do. */
export function difference(one: Buffer, other: Buffer): number {
  const [a, b] = [PNG.sync.read(one), PNG.sync.read(other)];
  if (a.width !== b.width || a.height !== b.height) return a.width * a.height;
  return pixelmatch(a.data, b.data, undefined, a.width, a.height, { threshold: 0.1 });
}
