/** Folders of this machine, as a person gives them to a page. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';

/** Makes a folder with these files; returns it. */
export function folderOf(folder: string, files: Record<string, string>): string {
  for (const [path, content] of Object.entries(files)) {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
  }
  return folder;
}

export const choose = (page: Page, folder: string): Promise<void> =>
  page.locator('input[type=file]').first().setInputFiles(folder);
export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();
