/**
 * Reports what this host offers, found as the service finds it: starts a runner, which reports whether its
 * sandboxes isolate.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { choosePlace, createRunnerClient, ensureRunner, missingRoom } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import type { RunnerStatus } from '@headrace/runner/protocol';
import { readConfig } from '@headrace/server/config.ts';
import { within } from '@headrace/server/deadline.ts';
import { findBinaries } from '@headrace/server/db/embedded/index.ts';
import { runnerSocket } from '@headrace/server/runner/link.ts';
import { openStore } from '@headrace/server/storage/open-store.ts';
import type { Cli } from '../core/cli.ts';
import type { Exit } from '../core/exit.ts';
import { examineDatabase } from './examine-database.ts';
import { examineLink } from './examine-link.ts';
import { showFindings } from './findings.ts';
import type { Finding } from './findings.ts';

const COMMAND_LIMIT_MS = 10_000;
const STORAGE_LIMIT_MS = 60_000;
const NODE_MAJOR = 26;
/** What source control is tried with; `git merge-tree --write-tree` exists since 2.38. */
const GIT_MINIMUM = [2, 39] as const;

export async function examineHost(cli: Cli): Promise<Exit> {
  const scratch = await mkdtemp(join(tmpdir(), 'headrace-doctor-'));
  try {
    const { machines, roles } = readConfig(cli.io.env, () => true);
    const isNode = machines !== null && roles.has('runner');
    const findings = await Promise.all([
      Promise.resolve(node()),
      found('git', git),
      // A runner on a node has no database.
      ...(isNode
        ? [found('room', () => Promise.resolve(room(cli.io.env)))]
        : [
            found('postgres', () => postgres(scratch)),
            found('database', () => examineDatabase(readConfig(cli.io.env, () => true))),
          ]),
      found('sandbox', () => sandbox(cli.io.env, scratch)),
      ...(machines === null ? [found('runner', () => runner(cli.io.env))] : []),
      ...(cli.io.env['HEADRACE_S3_BUCKET'] ? [found('storage', () => storage(cli.io.env))] : []),
    ]);
    const link = machines === null ? [] : await examineLink({ roles }, machines);
    return showFindings(cli, [...findings, ...link]);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

type Env = Cli['io']['env'];
type Check = () => Promise<Omit<Finding, 'name'>>;

async function found(name: string, check: Check): Promise<Finding> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    return { name, ok: false, detail: (error as Error).message.trim().split('\n')[0]!, warnings: [] };
  }
}

function node(): Finding {
  const ok = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR;
  return {
    name: 'node',
    ok,
    detail: ok
      ? process.version
      : `${process.version} is too old: start with \`npm run headrace\`, which uses Node ${NODE_MAJOR} of the dependencies`,
    warnings: [],
  };
}

async function git(): Promise<Omit<Finding, 'name'>> {
  const { stdout } = await promisify(execFile)('git', ['--version'], { timeout: COMMAND_LIMIT_MS });
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number);
  const isNew = major > GIT_MINIMUM[0] || (major === GIT_MINIMUM[0] && minor >= GIT_MINIMUM[1]);
  if (!isNew)
    return {
      ok: false,
      detail: `${stdout.trim()} is too old: install ${GIT_MINIMUM.join('.')} or newer`,
      warnings: [],
    };
  const programs = await promisify(execFile)('git', ['--exec-path'], { timeout: COMMAND_LIMIT_MS });
  const serves = existsSync(join(programs.stdout.trim(), 'git-http-backend'));
  return {
    ok: serves,
    detail: serves
      ? stdout.trim()
      : `${stdout.trim()} has no http-backend, which serves repositories: install it (Alpine: git-daemon)`,
    warnings: [],
  };
}

async function postgres(scratch: string): Promise<Omit<Finding, 'name'>> {
  const binaries = findBinaries(scratch);
  const { stdout } = await promisify(execFile)(binaries.postgres, ['--version'], {
    env: binaries.env,
    timeout: COMMAND_LIMIT_MS,
  });
  return { ok: true, detail: stdout.trim(), warnings: [] };
}

/** Whether a runner on this node would take new work, by its disk. */
function room(env: Env): Omit<Finding, 'name'> {
  const { parent } = choosePlace(readConfig(env, () => true).runnerDir);
  const missing = missingRoom(parent);
  return { ok: missing === null, detail: missing ?? `${parent} has room for workspaces`, warnings: [] };
}

/** Uses the driver and engine that the service would use in this environment. */
async function sandbox(env: Env, scratch: string): Promise<Omit<Finding, 'name'>> {
  const { sandboxDriver: driver, container, runnerDir } = readConfig(env, () => true);
  const client = await ensureRunner({
    stateDir: join(scratch, 'runner'),
    socketPath: join(scratch, 'runner.sock'),
    nodePath: process.execPath,
    sandboxes: { driver, ...container },
    place: runnerDir,
  });
  try {
    const status = await tried(client);
    try {
      return {
        ok: status.ok,
        detail: status.ok ? bounds(status) : status.missing.join('; '),
        warnings: status.limits.warnings,
      };
    } finally {
      process.kill(status.pid, 'SIGTERM');
    }
  } finally {
    client.close();
  }
}

/** Whether sources can be mounted is tried when the runner has started. */
async function tried(client: RunnerClient): Promise<RunnerStatus> {
  for (const deadline = Date.now() + COMMAND_LIMIT_MS; ; await sleep(50)) {
    const status = await client.status();
    if (!status.ok || status.restore !== undefined || Date.now() > deadline) return status;
  }
}

function bounds({ driver, limits, restore }: RunnerStatus): string {
  const cpu = limits.cpu === 'cgroup' ? 'a share of the processors by cgroup' : 'no share of the processors';
  const sources = restore === 'overlay' ? 'mounted' : 'unpacked';
  return (
    `${driver}; memory by ${limits.memory}, processes by ${limits.processes}, ${cpu}, size and number of ` +
    'open files by rlimit, size of a workspace by watchdog' +
    (restore === undefined ? '' : `; sources are ${sources}`)
  );
}

/** Writes, lists, reads and deletes an object in the bucket. */
async function storage(env: Env): Promise<Omit<Finding, 'name'>> {
  const config = readConfig(env, () => true);
  const store = await openStore(config);
  try {
    await within(STORAGE_LIMIT_MS, store.probe());
    return {
      ok: true,
      detail: `the bucket ${config.s3!.bucket} takes, lists, gives and deletes objects`,
      warnings: [],
    };
  } catch (error) {
    return { ok: false, detail: faultOf(error as Error), warnings: [] };
  } finally {
    store.close();
  }
}

/** With its cause, which names the address that does not answer, or the code of the answer. */
function faultOf({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  const known = cause.message === '' || cause.message === 'UnknownError' ? cause.name : cause.message;
  return `${message}: ${known}`;
}

/** The live runner for this data folder, if there is one. */
async function runner(env: Env): Promise<Omit<Finding, 'name'>> {
  const client = createRunnerClient(runnerSocket(readConfig(env, () => true).dataDir));
  try {
    const { pid, driver, load, egress } = await client.status();
    return {
      ok: true,
      detail:
        `pid ${pid}, ${driver ?? 'no driver'}; ${load?.sandboxes ?? 0} sandboxes; egress: ` +
        `${egress?.allowed ?? 0} connections let through, ${egress?.refused ?? 0} refused since it ` +
        'started',
      warnings: [],
    };
  } catch {
    return { ok: true, detail: 'none runs for this data folder now', warnings: [] };
  } finally {
    client.close();
  }
}
