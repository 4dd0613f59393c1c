/**
 * `node checks/console/shots.ts`: pictures of the console's scenes, light and dark, 1280 and 390 pixels wide.
 *
 *   --out <folder>   where to (a folder in the system's temporary folder)
 *   --only <name>    one scene (may be repeated); a beginning is enough
 *   --docs           only those that the guides and the README show, into docs/guides/images
 *   --twice          takes each picture twice and says which scenes are not stable
 *   --help
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { helpOf } from '../harness/help.ts';
import { launchBrowser, openVisit } from './browser.ts';
import type { VisitOptions } from './browser.ts';
import { startWholeGround } from './ground.ts';
import type { WholeGround } from './ground.ts';
import { open } from './page.ts';
import { SCENES } from './scenes.ts';
import type { Scene } from './scenes.ts';

const WIDTHS = [
  [1280, 800],
  [390, 844],
] as const;
const THEMES = ['light', 'dark'] as const;
/** Scenes of docs/guides/console.md and the README. */
const IN_DOCS = ['inbox', 'race', 'thread', 'conflict-content', 'diff'];

/** What went wrong in pages. */
const said = new Set<string>();

const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: join(tmpdir(), 'headrace-console-shots') },
    only: { type: 'string', multiple: true },
    docs: { type: 'boolean', default: false },
    twice: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (options.help)
  console.log(`${helpOf(import.meta.filename)}\n\nScenes: ${SCENES.map(({ name }) => name).join(', ')}`);
else await main();

async function main(): Promise<void> {
  const folder = options.docs ? join(import.meta.dirname, '../../docs/guides/images') : resolve(options.out);
  mkdirSync(folder, { recursive: true });
  const scenes = SCENES.filter(({ name }) =>
    options.docs ? IN_DOCS.includes(name) : (options.only?.some((only) => name.startsWith(only)) ?? true),
  );
  const ground = await startWholeGround();
  const browser = await launchBrowser();
  const take = async (scene: Scene, size: Pick<VisitOptions, 'width' | 'height' | 'theme'>) => {
    const visit = await openVisit(browser, {
      base: ground.base,
      state: ground.state,
      isStill: true,
      ...size,
    });
    try {
      return await pictureOf(scene, visit, ground);
    } finally {
      // A picture of what is wrong is wanted, too.
      await visit
        .close()
        .catch((error: Error) => said.add(`${scene.name}: ${error.message.replace(/\n {4}at .*/g, '')}`));
    }
  };
  try {
    for (const scene of scenes)
      for (const theme of THEMES)
        for (const [width, height] of WIDTHS) {
          if (options.docs && width !== 1280) continue;
          const name = options.docs ? `console-${scene.name}-${theme}` : `${scene.name}-${width}-${theme}`;
          const picture = await take(scene, { width, height, theme });
          writeFileSync(join(folder, `${name}.png`), picture);
          if (options.twice) {
            const differing = difference(picture, await take(scene, { width, height, theme }));
            if (differing > 0) console.log(`${name} is not stable: ${differing} pixels differ`);
          }
        }
  } finally {
    await browser.close();
    await ground.stop();
  }
  for (const line of said) console.error(line);
  console.log(folder);
}

async function pictureOf(
  { path, prepare }: Scene,
  visit: Awaited<ReturnType<typeof openVisit>>,
  ground: WholeGround,
): Promise<Buffer> {
  visit.allows(/: 404$/);
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
