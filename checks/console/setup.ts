/**
 * Vitest's globalSetup of the console's browser tests: Chromium, the console's own files, and a service for the files
 * that need none of their own. Root gets Chromium installed, and in CI it is required; others who have none see the tests skipped.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startGround } from './ground.ts';
import type { Shared } from './ground.ts';
import { getChromium } from '../harness/programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether there is a Chromium to test with. */
    hasChromium: boolean;
    /** The service that files share. */
    shared: Shared | null;
  }
}

const root = join(import.meta.dirname, '../..');
const COMMAND = 'sudo apt-get install -y chromium';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const hasChromium = getChromium((line) => console.error(line)) !== null;
  if (!hasChromium) {
    if (process.env['CI'] || process.getuid?.() === 0)
      throw new Error(`Chromium is missing and could not be installed: ${COMMAND}`);
    console.error(`SKIPPED: the console's tests need Chromium: ${COMMAND}`);
  }
  project.provide('hasChromium', hasChromium);
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
