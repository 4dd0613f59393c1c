/** What tests of pages with code look at: an app with a source, and another one that changes it. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { makeApp } from './ground.ts';
import type { App, Site } from './ground.ts';
import { sharedSite } from './rig.ts';

export interface Code {
  site: Site;
  app: App;
  /** A source whose parent is the app's first one. */
  changed: string;
  /** Another one with these changes. */
  change(changes: Change[]): Promise<string>;
  address(rest: string): string;
}

export interface Change {
  path: string;
  content: string;
  encoding?: 'base64';
}

const LINES = Array.from({ length: 300 }, (_, line) => `export const line${line + 1} = ${line + 1};\n`);
/** A name and a line that pretend to be something else. */
export const HOSTILE = {
  path: 'src/gpj.\u202ets',
  content: 'if (isAdmin) { /*\u202e } \u2066 */ deny();\n',
};

export async function makeCode(): Promise<Code> {
  const site = sharedSite();
  const app = await makeApp(site.client, 'Code', [
    { path: 'README.md', content: '# Code\n' },
    { path: 'src/long.ts', content: LINES.join('') },
    { path: 'src/spaces.ts', content: 'a();\nb();\n' },
    { path: 'src/zebra.ts', content: 'const stripes = 1;\n' },
  ]);
  const change = async (changes: Change[]) => {
    const body = { baseSourceId: app.sourceId, changes, message: 'A change' };
    return (await site.client.sources.import(app.id, body)).source.id;
  };
  const changed = await change([
    { path: 'src/long.ts', content: LINES.with(199, 'export const line200 = "two hundred";\n').join('') },
    { path: 'src/spaces.ts', content: 'a();\n  b();\n' },
    { path: 'src/zebra.ts', content: 'const stripes = 2;\n' },
    { path: 'logo.bin', content: 'AAEC/w==', encoding: 'base64' },
    HOSTILE,
    ...Array.from({ length: 40 }, (_, file) => ({ path: `more/file-${file}.md`, content: `Text ${file}\n` })),
  ]);
  return { site, app, changed, change, address: (rest) => `/console/apps/${app.id}/${rest}` };
}

/** Waits as long as the browser's own waits. */
export const eventually = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 15_000 });
export const rows = (page: Page, path: string) => page.locator(`[data-file="${path}"]`);
