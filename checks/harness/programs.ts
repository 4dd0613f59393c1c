/** Programs of this machine. */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { aptInstall, aptUnpack, mayInstall } from '../../scripts/apt.mjs';

export const CHROMIUM_NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
export const FIREFOX_NAMES = ['firefox-esr', 'firefox'];
/** About 100 MB of packages. */
const INSTALL_MS = 10 * 60_000;

/** Beside what npm installed: it may go with it. */
const UNPACKED = join(import.meta.dirname, '../../node_modules/.cache/headrace-programs');

/**
 * The folder that has `prometheus` and `promtool`. Where they are missing, root gets Debian's package (19 MB)
 * unpacked and not installed, which would start a service; null if there still are none.
 */
export function getPrometheus(say: (line: string) => void): string | null {
  const installed = findProgram(['promtool']);
  if (installed !== null && findProgram(['prometheus']) !== null) return dirname(installed);
  const folder = join(UNPACKED, 'prometheus');
  const programs = join(folder, 'usr/bin');
  if (!existsSync(join(programs, 'promtool')) && mayInstall()) {
    say("Unpacking Debian's prometheus; this takes half a minute.");
    aptUnpack('prometheus', folder, INSTALL_MS);
  }
  return existsSync(join(programs, 'promtool')) ? programs : null;
}

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
