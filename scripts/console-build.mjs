// Builds packages/console into its dist when a source has changed. Runs under whatever Node the machine has,
// and before dependencies are there: imports nothing but Node's own.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const HOME = 'packages/console';
const BUILD_LIMIT = 2 * 60_000;
/** What the build reads. */
const SOURCES = [
  HOME,
  'packages/client/src',
  'packages/client/package.json',
  'package-lock.json',
  'tsconfig.json',
];
const NOT_READ = /(^|\/)(node_modules|dist|\.dist-[^/]*)$|\.(test|fixture)\.tsx?$/;
/** Kept in dist: the hash of its sources, and what the service shows instead of a page. */
const HASH = 'sources.sha256';
const FAILURE = 'failure.txt';

/**
 * Whether dist is of these sources. Contents are hashed, not times: a clone has other times, and git changes
 * them. A checkout without the console's sources keeps the dist that it came with. A build that failed is
 * made again by `npm start` alone, lest each other command waits for it.
 */
export function isBuilt(root, { retries = false } = {}) {
  if (read(join(root, HOME, 'vite.config.ts')) === null) return true;
  const dist = join(root, HOME, 'dist');
  if (read(join(dist, HASH)) !== hashSources(root)) return false;
  return !(retries && read(join(dist, FAILURE)) !== null);
}

/** Never throws: what fails is said, and left for the service to show. Call it under the setup's lock. */
export async function buildConsole(root, { say, node, limitMs = BUILD_LIMIT }) {
  const home = join(root, HOME);
  const next = join(home, '.dist-next');
  const started = Date.now();
  say('Building the console.');
  try {
    rmSync(next, { recursive: true, force: true });
    mkdirSync(next);
    // Before the build: a source that changes during it makes another one.
    const hash = hashSources(root);
    const failure = await runVite(root, next, { node, limitMs });
    if (failure !== null) {
      rmSync(next, { recursive: true, force: true });
      mkdirSync(next);
      writeFileSync(join(next, FAILURE), failure);
      say(`${failure}\nThe console could not be built. All else works; /console/ shows this text.`);
    }
    writeFileSync(join(next, HASH), hash);
    replace(join(home, 'dist'), next, join(home, '.dist-former'));
    if (failure === null) say(`Console built in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
  } catch (error) {
    say(`The console could not be built: ${error.message}. All else works.`);
  }
}

/**
 * A folder cannot be renamed over another: for a moment there is none. A request then is answered 503, and the next one
 * reads again.
 */
function replace(dist, next, former) {
  rmSync(former, { recursive: true, force: true });
  try {
    renameSync(dist, former);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(next, dist);
  rmSync(former, { recursive: true, force: true });
}

/** The last lines of a build that failed, without the paths of this machine; null after one that did not. */
async function runVite(root, into, { node, limitMs }) {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const child = spawn(
    node,
    [vite, 'build', join(root, HOME), '--outDir', into, '--emptyOutDir', '--logLevel', 'warn'],
    {
      cwd: root,
      // A development build would be what NODE_ENV=development asks for.
      env: { ...process.env, NODE_ENV: 'production', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
      killSignal: 'SIGKILL',
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => (output = (output + data).slice(-8_000)));
  const end = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (status, signal) => resolve(status ?? signal));
  });
  if (end === 0) return null;
  const lines = stripVTControlCharacters(output)
    .replaceAll(join(root, '/'), '')
    .trim()
    .split('\n')
    .slice(-30);
  return `${lines.join('\n')}\n(vite build: ${end === 'SIGKILL' ? `stopped, at the latest after ${limitMs / 1000} s` : end})`.trim();
}

function hashSources(root) {
  const hash = createHash('sha256');
  for (const source of SOURCES)
    for (const name of filesOf(root, source)) {
      const bytes = readBytes(join(root, name)) ?? '';
      hash.update(`${name} ${bytes.length}\n`).update(bytes);
    }
  return hash.digest('hex');
}

/** Sorted, so that each machine has the same order. */
function filesOf(root, name) {
  let entries;
  try {
    entries = readdirSync(join(root, name), { withFileTypes: true });
  } catch (error) {
    return error.code === 'ENOTDIR' ? [name] : [];
  }
  return entries
    .map((entry) => ({ entry, path: `${name}/${entry.name}` }))
    .filter(({ path }) => !NOT_READ.test(path))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(({ entry, path }) => (entry.isDirectory() ? filesOf(root, path) : [path]));
}

const read = (path) => readBytes(path)?.toString() ?? null;

/** null where there is no such file, or none that can be read. */
function readBytes(path) {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
