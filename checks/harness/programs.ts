/** Programs of this machine. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptInstall, mayInstall } from '../../scripts/apt.mjs';

export const CHROMIUM_NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
export const FIREFOX_NAMES = ['firefox-esr', 'firefox'];
/** About 100 MB of packages. */
const INSTALL_MS = 10 * 60_000;

/** The first of these programs in PATH, without the folders that npm puts there; null if there is none. */
export function findProgram(names: readonly string[]): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  for (const folder of folders.filter((path) => !path.includes('node_modules')))
    for (const name of names) {
      const file = join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        /* not in this folder */
      }
    }
  return null;
}

/** Chromium's path. Root installs it from Debian if it is missing; null if there still is none. */
export const getChromium = (say: (line: string) => void): string | null =>
  getBrowser('chromium', CHROMIUM_NAMES, say);

/** The same for Firefox. */
export const getFirefox = (say: (line: string) => void): string | null =>
  getBrowser('firefox-esr', FIREFOX_NAMES, say);

function getBrowser(debian: string, names: readonly string[], say: (line: string) => void): string | null {
  const found = findProgram(names);
  if (found !== null || !mayInstall()) return found;
  say(`Installing ${debian} with apt-get; this takes a minute.`);
  aptInstall(debian, INSTALL_MS);
  return findProgram(names);
}
