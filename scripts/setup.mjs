// Makes a checkout ready to run: dependencies (Node 26 among them), bubblewrap, git, the console. Runs before every npm
// script, under whatever Node the machine has (20 or newer) and without dependencies; when there is nothing
// to do it takes about 0.1 s.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, mkdtempSync, readFileSync, unlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptInstall, mayInstall } from './apt.mjs';
import { buildConsole, isBuilt } from './console-build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const NODE_MAJOR = 26;
const INSTALL_LIMIT = 15 * 60_000;

// On stderr: stdout belongs to the program that comes after.
const say = (line) => process.stderr.write(`${line}\n`);
const works = (command) =>
  spawnSync(command, ['--version'], { stdio: 'ignore', timeout: 10_000 }).status === 0;

const needsConsole = () =>
  process.env.HEADRACE_CONSOLE !== '0' &&
  !isBuilt(root, { retries: process.env.npm_lifecycle_event === 'start' });

let hasBubblewrap = works('bwrap');
if (!isInstalled() || (!hasBubblewrap && mayInstall()) || needsConsole()) {
  const unlock = await lock();
  // Another setup may have done it meanwhile.
  if (!isInstalled()) await install();
  if (!works('bwrap') && mayInstall()) installBubblewrap();
  hasBubblewrap = works('bwrap');
  if (needsConsole()) await buildConsole(root, { say, node: join(root, 'node_modules/.bin/node') });
  unlock();
}
if (!hasBubblewrap)
  say(
    process.platform === 'linux'
      ? "bubblewrap is missing, so threads get no sandbox: run `sudo apt-get install -y bubblewrap` (or your system's equal)."
      : 'Sandboxes need Linux with bubblewrap, or Docker with HEADRACE_SANDBOX_DRIVER=container.',
  );
if (!works('git'))
  say("git is missing, and merges need it: run `sudo apt-get install -y git` (or your system's equal).");

/**
 * Whether node_modules is what package-lock.json says: npm writes its own copy of the lock there once all
 * is in place.
 */
function isInstalled() {
  const installed = packagesOf('node_modules/.package-lock.json');
  if (!installed) return false;
  for (const [path, { version, link, optional, devOptional, peer }] of Object.entries(
    packagesOf('package-lock.json'),
  )) {
    if (!path.startsWith('node_modules/') || link) continue;
    // Optional ones are other platforms' binaries, mostly.
    if (installed[path] ? installed[path].version !== version : !(optional || devOptional || peer))
      return false;
  }
  return nodeVersion().startsWith(`v${NODE_MAJOR}.`);
}

function packagesOf(name) {
  try {
    return JSON.parse(readFileSync(join(root, name), 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function nodeVersion() {
  return (
    spawnSync(join(root, 'node_modules/.bin/node'), ['--version'], { encoding: 'utf8', timeout: 10_000 })
      .stdout ?? ''
  );
}

/** `npm ci`, without install scripts: no dependency needs one. Ends the process when it fails. */
async function install() {
  say('Installing dependencies with npm ci; this takes a minute or two.');
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const args = [...npm.slice(1), 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const started = Date.now();
  const child = spawn(npm[0], args, {
    cwd: root,
    env: npmEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: INSTALL_LIMIT,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => (output = (output + data).slice(-8_000)));
  const progress = setInterval(
    () => say(`  still installing (${Math.round((Date.now() - started) / 1000)} s)`),
    15_000,
  );
  const code = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (status, signal) => resolve(status ?? signal));
  });
  clearInterval(progress);
  if (code !== 0) {
    fail(
      `${output.trim()}\nInstalling the dependencies failed (npm ci: ${code}). Check that the npm registry can be reached (\`npm ping\`) and that this folder can be written, then run the command again.`,
    );
  }
  if (!isInstalled()) {
    fail(
      `Node ${NODE_MAJOR} did not come with the dependencies for ${process.platform}-${process.arch} (it does for linux-x64, linux-arm64 and darwin-arm64). If npm is set to omit optional dependencies, unset that and run \`npm ci\`.`,
    );
  }
  say(`Dependencies installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/** A user without a home that can be written gets a cache for this time only. */
function npmEnvironment() {
  // NODE_ENV=production would leave out what lint and tests need.
  const env = { ...process.env, NODE_ENV: 'development' };
  try {
    accessSync(homedir(), constants.W_OK);
  } catch {
    env.npm_config_cache ??= mkdtempSync(join(tmpdir(), 'headrace-npm-'));
  }
  return env;
}

function installBubblewrap() {
  say('Installing bubblewrap with apt-get.');
  aptInstall('bubblewrap');
}

/**
 * One setup per checkout at a time: waits for the other one. A listening socket ends with its process,
 * however that dies.
 */
async function lock() {
  const name = `headrace-setup-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  const path = process.platform === 'linux' ? `\0${name}` : join(tmpdir(), name);
  const deadline = Date.now() + 2 * INSTALL_LIMIT;
  while (Date.now() < deadline) {
    const waiting = new Set();
    const server = createServer((socket) => waiting.add(socket.on('error', () => {})));
    const isOurs = await new Promise((resolve, reject) => {
      server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
      server.listen(path, () => resolve(true));
    });
    if (isOurs)
      return () => {
        server.close();
        for (const socket of waiting) socket.destroy();
      };
    await otherEnds(path);
  }
  return fail('Another setup of this checkout does not end. Stop it and run the command again.');
}

async function otherEnds(path) {
  const error = await new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => say('Waiting for another setup of this checkout.'));
    socket.once('error', resolve);
    socket.once('close', () => resolve(null));
    socket.resume();
  });
  // A killed process leaves its socket where sockets are files.
  if (error?.code === 'ECONNREFUSED' && !path.startsWith('\0')) unlinkSync(path);
  await new Promise((resolve) => setTimeout(resolve, 100));
}

function fail(message) {
  say(message);
  process.exit(1);
}
