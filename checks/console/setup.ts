/**
 * Vitest's globalSetup of the console's browser tests: Chromium, the console's own files, and a service for the files
 * that need none of their own; with the long tests, one of which is in Firefox, that too. Root gets both installed, and
 * in CI they are required; others who have none see the tests skipped.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startGround } from './ground.ts';
import type { Shared } from './ground.ts';
import { getChromium, getFirefox } from '../harness/programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether there is a Chromium to test with. */
    hasChromium: boolean;
    /** The path of Firefox; null where there is none, or without the long tests. */
    firefox: string | null;
    /** The service that files share. */
    shared: Shared | null;
  }
}

const root = join(import.meta.dirname, '../..');

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const hasChromium = orSkipped('Chromium', 'chromium', getChromium) !== null;
  project.provide('hasChromium', hasChromium);
  const { testFiles } = await project.globTestFiles();
  const wantsFirefox = testFiles.some((file) => file.endsWith('/firefox.test.ts'));
  project.provide('firefox', wantsFirefox ? orSkipped('Firefox', 'firefox-esr', getFirefox) : null);
  // A test that is started by itself sees the console of the present sources, too.
  execFileSync(process.execPath, [join(root, 'scripts/setup.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const failure = join(root, 'packages/console/dist/failure.txt');
  if (existsSync(failure))
    throw new Error(
      `The console could not be built; \`npm start\` tries again:\n${readFileSync(failure, 'utf8')}`,
    );
  const ground = hasChromium ? await startGround() : null;
  project.provide('shared', ground && { base: ground.base, key: ground.service.key, state: ground.state });
  return async () => ground?.stop();
}

function orSkipped(name: string, debian: string, get: typeof getChromium): string | null {
  const path = get((line) => console.error(line));
  if (path !== null) return path;
  const command = `sudo apt-get install -y ${debian}`;
  if (process.env['CI'] || process.getuid?.() === 0)
    throw new Error(`${name} is missing and could not be installed: ${command}`);
  console.error(`SKIPPED: tests of the console need ${name}: ${command}`);
  return null;
}
