import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lives, processStat } from '../processes.ts';
import { Engine } from './engine.ts';
import { removeOrphans } from './orphans.ts';

const TRY_MS = 10_000,
  TRY_AGAIN_MS = 500;
const noteFile = (stateDir: string): string => join(stateDir, 'engine.json');
/** Containers do not survive a restart of this machine. */
const boot = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();

interface Note {
  socket: string;
  boot: string;
  pid: number;
  startTime?: string;
}

/**
 * Records in the runner's state which engine holds its containers, for the next runner, whichever driver that
 * one has.
 */
export function noteEngine(stateDir: string, socket: string, pid = process.pid): void {
  const note: Note = {
    socket,
    boot: boot(),
    pid,
    ...(processStat(pid) && { startTime: processStat(pid)!.startTime }),
  };
  writeFileSync(noteFile(stateDir), JSON.stringify(note));
}

/** Removes the record: nothing of this runner is left on its engine. */
export function forgetEngine(stateDir: string): void {
  rmSync(noteFile(stateDir), { force: true });
}

/**
 * Removes the containers that the previous runner left when it was killed; waits for one that is about to
 * end. A caller that asks a runner for an unknown task concludes that the task's sandbox is gone, so no
 * runner may answer before this has succeeded. Throws with a sentence for a person.
 */
export async function removeLeftBehind(stateDir: string, tryMs = TRY_MS): Promise<void> {
  const note = noted(stateDir);
  if (!note || note.boot !== boot()) return;
  for (const deadline = Date.now() + tryMs; ; await sleep(TRY_AGAIN_MS)) {
    try {
      if (lives(note.pid, note.startTime)) throw new Error(`its process ${note.pid} has not ended yet`);
      await removeOrphans(new Engine(note.socket));
      return forgetEngine(stateDir);
    } catch (error) {
      if (Date.now() < deadline) continue;
      throw new Error(
        `Containers of an earlier runner may be alive on ${note.socket} (${(error as Error).message}): ` +
          `start that engine, or remove ${noteFile(stateDir)} once they are gone.`,
        { cause: error },
      );
    }
  }
}

/**
 * The same for killed runners of other versions, whose state is in the folder above or in its other folders.
 * One that lives keeps its containers.
 */
export async function removeLeftByOthers(stateDir: string): Promise<void> {
  const above = dirname(stateDir);
  const inside = readdirSync(above, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const other of [above, ...inside.map(({ name }) => join(above, name))]) {
    const note = other === stateDir ? undefined : noted(other);
    if (note && !lives(note.pid, note.startTime)) await removeLeftBehind(other);
  }
}

function noted(stateDir: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(noteFile(stateDir), 'utf8')) as Note;
  } catch {
    return undefined;
  }
}
