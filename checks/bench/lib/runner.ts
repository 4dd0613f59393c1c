/** Starts a runner process, reached over its real socket. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { RunnerClient } from '../../../packages/runner/src/client/runner-client.ts';
import { ensureRunner } from '../../../packages/runner/src/client/ensure-runner.ts';
import type { JournalEntry, TaskEnd } from '../../../packages/runner/src/protocol.ts';
import type { Setup } from './benchmark.ts';
import { memoryOfGroup } from './memory.ts';
import { endLeftovers } from '../../harness/service.ts';

export interface BenchRunner extends RunnerClient {
  pid: number;
  /** Memory of its sandboxes' control groups. */
  groupKiB(): number;
  /** A new folder on the file system that holds the workspaces; goes with the benchmark. */
  folder(): string;
  /** Runs a command in a workspace to its end. Throws where it does not exit with 0. */
  exec(workspaceId: string, command: string): Promise<TaskEnd>;
}

const EXEC_LIMIT_MS = 60_000;

/** Ended with the benchmark. Throws where it can make no sandboxes. */
export async function startRunner(setup: Setup): Promise<BenchRunner> {
  const dataDir = mkdtempSync(join(setup.scratch, 'data-'));
  const client = await ensureRunner({
    stateDir: join(dataDir, 'runner'),
    socketPath: join(setup.scratch, 'runner'),
    nodePath: process.execPath,
    idleSeconds: 600,
  });
  setup.atEnd(async () => {
    client.close();
    await endLeftovers(dataDir);
  });
  const { ok, missing, pid } = await client.status();
  if (!ok) throw new Error(`No sandbox can be made: ${missing.join('; ')}`);
  let tasks = 0;
  return {
    ...client,
    pid,
    groupKiB: () => memoryOfGroup(basename(ownFolder(pid))),
    folder() {
      const folder = mkdtempSync(join(dirname(ownFolder(pid)), 'hr-bench-'));
      setup.atEnd(() => rmSync(folder, { recursive: true, force: true }));
      return folder;
    },
    async exec(workspaceId, command) {
      const id = `bench_${++tasks}`;
      await client.startTask(id, { kind: 'exec', workspaceId, command, timeoutMs: EXEC_LIMIT_MS });
      const end = endOf(await Array.fromAsync(client.journal(id)));
      await client.deleteTask(id);
      if (end.exitCode !== 0) throw new Error(`${command}: ${JSON.stringify(end)}`);
      return end;
    },
  };
}

const endOf = (entries: JournalEntry[]): TaskEnd => entries.find((entry) => entry.type === 'end')!;

/** The runner's own folder, which names its process. */
function ownFolder(pid: number): string {
  const isIts = (folder: string) => {
    try {
      return (JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8')) as { pid: number }).pid === pid;
    } catch {
      return false;
    }
  };
  const folders = ['/dev/shm', tmpdir()]
    .filter((parent) => existsSync(parent))
    .flatMap((parent) =>
      readdirSync(parent)
        .filter((name) => name.startsWith('headrace-'))
        .map((name) => join(parent, name)),
    );
  const folder = folders.find(isIts);
  if (!folder) throw new Error("The runner's folder was not found");
  return folder;
}
