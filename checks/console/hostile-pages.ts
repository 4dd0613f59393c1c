/** Every page of an app whose texts are hostile. */
import { expect } from 'vitest';
import { FOUND, NAME, PAYLOADS, TITLE } from './hostile.ts';
import type { Hostile } from './hostile.ts';
import type { Visit } from './browser.ts';
import { goTo, textOf, tooWide } from './page.ts';

const FILE = encodeURIComponent('img src=x onerror=xss()/مرحبا بالعالم.txt');
const ADDRESSES: Record<string, (hostile: Hostile) => string> = {
  inbox: () => '',
  apps: () => 'apps',
  race: (hostile) => `apps/${hostile.app.id}`,
  'race as a table': (hostile) => `apps/${hostile.app.id}?show=table`,
  settings: (hostile) => `apps/${hostile.app.id}/settings`,
  sources: (hostile) => `apps/${hostile.app.id}/sources`,
  source: (hostile) => `apps/${hostile.app.id}/sources/${hostile.latestSourceId}`,
  'a file': (hostile) => `apps/${hostile.app.id}/sources/${hostile.latestSourceId}?file=${FILE}`,
  'a file of Markdown': (hostile) => `apps/${hostile.app.id}/sources/${hostile.latestSourceId}?file=notes.md`,
  'a search': (hostile) => `apps/${hostile.app.id}/sources/${hostile.latestSourceId}?q=xss`,
  variables: (hostile) => `apps/${hostile.app.id}/environment`,
  'a long line': (hostile) => `apps/${hostile.app.id}/sources/${hostile.latestSourceId}?file=long-line.js`,
  diff: (hostile) => `apps/${hostile.app.id}/diff?from=${hostile.app.sourceId}&to=${hostile.latestSourceId}`,
  thread: (hostile) => `apps/${hostile.app.id}/threads/${hostile.threadId}`,
  ...Object.fromEntries(
    ['changes', 'files', 'builds', 'events', 'runs'].map((panel) => [
      `thread, ${panel}`,
      (hostile: Hostile) => `apps/${hostile.app.id}/threads/${hostile.threadId}?panel=${panel}`,
    ]),
  ),
  setups: (hostile) => `apps/${hostile.app.id}/setups`,
  setup: (hostile) => `apps/${hostile.app.id}/setups/${hostile.setupId}`,
  'builds of no thread': (hostile) => `apps/${hostile.app.id}/builds?threadId=none`,
  builds: (hostile) => `apps/${hostile.app.id}/builds`,
  build: (hostile) => `apps/${hostile.app.id}/builds/${hostile.buildId}`,
  'files of a build': (hostile) => `apps/${hostile.app.id}/builds/${hostile.buildId}?part=files`,
  // What an address says is shown, too.
  'an unknown address': () => encodeURIComponent('<img src=x onerror=xss() data-xss>'),
  'a bad parameter': (hostile) =>
    `apps/${hostile.app.id}/builds?status=${encodeURIComponent('<b data-xss>')}`,
};
/** A text that the page itself has to show; others only must not be blank or fail. */
const SHOWN: Record<string, string> = {
  apps: NAME,
  'race as a table': TITLE,
  sources: 'The first version',
  source: 'notes.md',
  'a file': PAYLOADS[0],
  'a file of Markdown': PAYLOADS[0],
  'a search': PAYLOADS[0],
  variables: PAYLOADS[0],
  'a long line': 'xxxxxxxxxx',
  diff: 'notes.md',
  thread: PAYLOADS[1],
  'thread, changes': 'notes.md',
  'thread, files': 'notes.md',
  setups: 'echo',
  setup: PAYLOADS[1],
  build: PAYLOADS[1],
  'files of a build': 'img src=x onerror=xss().md',
  'an unknown address': 'This address leads nowhere',
  'a bad parameter': 'A part of the address is not understood',
};

export const ALL = Object.keys(ADDRESSES);

/** Goes to these pages: nothing runs, becomes markup or makes a page wide. */
export async function staysText(visit: Visit, hostile: Hostile, names: string[]): Promise<void> {
  // The router says itself which parameter it refused.
  visit.allows(/^console: .*“status” can only be/);
  for (const name of names) {
    await visit.page.setViewportSize({ width: 1280, height: 800 });
    await goTo(visit, `/console/${ADDRESSES[name]!(hostile)}`);
    expect(await visit.page.evaluate(FOUND), name).toEqual([]);
    const text = await textOf(visit.page, 'main');
    expect(text, name).toMatch(/\S/);
    expect(text, name).not.toMatch(/Not here|The page failed/);
    expect(text, name).toContain(SHOWN[name] ?? '');
    await visit.page.setViewportSize({ width: 360, height: 640 });
    expect(await tooWide(visit.page), name).toEqual([]);
  }
}
