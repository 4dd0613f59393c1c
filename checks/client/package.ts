/** The tarball as a package: linters, and publishing to a registry that exists only for this test. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { stageClient } from '../../scripts/client-pack.ts';
import { tool } from './tools.ts';

const run = promisify(execFile);
const LIMIT_MS = 120_000;
const START_MS = 60_000;

const node = (file: string, ...args: string[]) =>
  run(process.execPath, [file, ...args], { timeout: LIMIT_MS }).catch(
    (error: Error & { stdout?: string }) => {
      throw new Error(`${error.stdout ?? ''}${error.message}`);
    },
  );

export async function publint(tarball: string): Promise<string> {
  await node(tool('publint', 'src', 'cli.js'), '--strict', '--pack', 'npm', tarball);
  return 'no complaint, warnings included';
}

/** Are the types wrong? For ESM only: `require` is not meant to work. */
export async function attw(tarball: string): Promise<string> {
  await node(tool('@arethetypeswrong', 'cli', 'dist', 'index.js'), tarball, '--profile', 'esm-only');
  return 'the types are those of the code';
}

/** Checks the release workflow against the schema of workflows. It is not run here. */
export async function workflow(): Promise<string> {
  const file = join(import.meta.dirname, '../../.github/workflows/release.yml');
  await node(tool('@action-validator', 'cli', 'cli.mjs'), file);
  return 'valid; not run';
}

/** Publishes to a registry on this machine and installs from it. */
export async function publication(scratch: string): Promise<string> {
  const folder = join(scratch, 'registry');
  mkdirSync(folder);
  const port = await freePort();
  const registry = `http://127.0.0.1:${port}/`;
  // Quoted: JSON is YAML.
  writeFileSync(
    join(folder, 'config.yaml'),
    JSON.stringify({
      storage: join(folder, 'storage'),
      uplinks: {},
      packages: { '**': { access: '$all', publish: '$all' } },
      log: { type: 'stdout', level: 'warn' },
    }),
  );
  const npmrc = join(folder, 'npmrc');
  writeFileSync(npmrc, `registry=${registry}\n//127.0.0.1:${port}/:_authToken=none\n`);
  const npm = (cwd: string, ...args: string[]) =>
    run('npm', [...args, '--userconfig', npmrc, '--cache', join(folder, 'cache')], {
      cwd,
      timeout: LIMIT_MS,
    });
  const server = spawn(
    process.execPath,
    [
      tool('verdaccio', 'bin', 'verdaccio'),
      '--config',
      join(folder, 'config.yaml'),
      '--listen',
      `127.0.0.1:${port}`,
    ],
    { stdio: 'ignore', cwd: folder },
  );
  try {
    for (const deadline = Date.now() + START_MS; ; await sleep(200)) {
      if (
        await fetch(`${registry}-/ping`).then(
          (answer) => answer.ok,
          () => false,
        )
      )
        break;
      if (Date.now() > deadline || server.exitCode !== null) throw new Error('verdaccio does not start');
    }
    const stage = join(folder, 'stage');
    await stageClient(stage);
    await npm(stage, 'publish');
    const consumer = join(folder, 'consumer');
    mkdirSync(consumer);
    writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }\n');
    await npm(consumer, 'install', '@headrace/client', '--no-audit', '--no-fund');
    const lock = JSON.parse(readFileSync(join(consumer, 'package-lock.json'), 'utf8')) as {
      packages: object;
    };
    const installed = Object.keys(lock.packages).length - 1;
    const { stdout } = await run(
      process.execPath,
      ['--eval', "import('@headrace/client').then((client) => console.log(typeof client.createClient))"],
      { cwd: consumer, timeout: LIMIT_MS },
    );
    if (stdout.trim() !== 'function') throw new Error(`createClient is ${stdout}`);
    return `published and installed, packages in all: ${installed}`;
  } finally {
    server.kill('SIGKILL');
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
