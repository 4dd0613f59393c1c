import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packCli } from '../../scripts/cli-pack.ts';
import { packClient } from '../../scripts/client-pack.ts';

/** Installs both tarballs into `<scratch>/an install`, without the registry. */
export async function installed(scratch: string): Promise<{ packages: number; bytes: number }> {
  const folder = join(scratch, 'an install');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}\n');
  const tarballs = [await packClient(scratch), await packCli(scratch)];
  execFileSync('npm', ['install', ...tarballs, '--offline', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const modules = join(folder, 'node_modules');
  const files = readdirSync(modules, { recursive: true, encoding: 'utf8' });
  return {
    packages: files.filter((file) => /^(@[^/]+\/)?[^./@][^/]*\/package\.json$/.test(file)).length,
    bytes: files.reduce((sum, file) => sum + statSync(join(modules, file)).size, 0),
  };
}
