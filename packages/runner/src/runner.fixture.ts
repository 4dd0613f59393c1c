import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll } from 'vitest';
import type { JournalEntry, TaskRequest } from './protocol.ts';
import { Gateways } from './tasks/gateways.ts';
import { storeFolder } from './sandbox/guest-store.ts';
import { prepareHost, releaseHost, type Host } from './sandbox/host.ts';
import { chooseDriver, DEFAULT_CHOICE, type DriverChoice } from './sandbox/drivers.ts';
import { tarOf } from './tar.ts';
import type { Task } from './tasks/task.ts';
import { Tasks } from './tasks/tasks.ts';
import { Workspaces } from './workspaces/workspaces.ts';
import { Trees } from './workspaces/trees.ts';

/**
 * A folder that is removed after the file's tests; in memory where there is one, for mass creation on disks
 * is slow.
 */
export function scratch(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'hr-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type Files = Record<string, string | { content: string | Buffer; executable?: boolean }>;

/** A tar of these files as a stream. */
export function tarStream(files: Files): Readable {
  return Readable.from(
    [
      tarOf(
        Object.entries(files).map(([path, file]) =>
          typeof file === 'string' ? { path, content: file } : { path, ...file },
        ),
      ),
    ],
    { objectMode: false },
  );
}

export interface Bench {
  host: Host;
  workspaces: Workspaces;
  tasks: Tasks;
  gateways: Gateways;
  run(id: string, request: TaskRequest): Promise<JournalEntry[]>;
}

/** A driver to be tested, with a name for a person. */
export interface Engine {
  name: string;
  choice: DriverChoice;
}

/**
 * The drivers that HEADRACE_TEST_ENGINES names (JSON: a list of name and choice, of which what is left out
 * is as by default): bubblewrap alone where it is not set.
 */
export function testEngines(): Engine[] {
  const named = JSON.parse(process.env.HEADRACE_TEST_ENGINES ?? '[]') as {
    name: string;
    choice: Partial<DriverChoice>;
  }[];
  return named.length === 0
    ? [{ name: 'bubblewrap', choice: { ...DEFAULT_CHOICE, driver: 'bubblewrap' } }]
    : named.map(({ name, choice }) => ({ name, choice: { ...DEFAULT_CHOICE, ...choice } }));
}

/**
 * A runner's parts in this process, on real sandboxes of this driver, or the first to be tested; undefined,
 * with a visible line, where none can be made. Throws where none of an engine can be that was named.
 */
export async function makeBench(choice: DriverChoice = testEngines()[0]!.choice): Promise<Bench | undefined> {
  const host = await prepareHost(storeFolder(tmpdir()));
  const { ok, missing } = await chooseDriver(host, choice);
  const workspaces = new Workspaces(host, new Trees(host));
  const gateways = new Gateways();
  const tasks = new Tasks(host, workspaces, gateways);
  afterAll(async () => {
    await Promise.allSettled(tasks.all().map((task) => task.cancel()));
    await releaseHost(host);
  });
  if (!ok) {
    if (process.env.HEADRACE_TEST_ENGINES) throw new Error(missing.join('; '));
    process.stderr.write(`SKIPPED, no sandbox can be made here: ${missing.join('; ')}\n`);
    return undefined;
  }
  return {
    host,
    workspaces,
    tasks,
    gateways,
    run: async (id, request) => entriesOf(tasks.start(id, request).task),
  };
}

/** All entries of a task's journal to its end. */
export async function entriesOf(task: Task, from = 0): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of task.journal.read(from, AbortSignal.timeout(60_000))) entries.push(entry);
  return entries;
}

export const outputOf = (entries: JournalEntry[], stream?: 'stdout' | 'stderr'): string =>
  entries.map((e) => (e.type === 'output' && (!stream || e.stream === stream) ? e.text : '')).join('');
export const endOf = (entries: JournalEntry[]): Extract<JournalEntry, { type: 'end' }> =>
  entries.find((e) => e.type === 'end')!;
