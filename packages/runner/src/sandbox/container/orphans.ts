import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../host.ts';
import { lives, processStat } from '../processes.ts';
import { EngineError, type Engine } from './engine.ts';

const LABEL = 'headrace.runner',
  OWNER = 'headrace.owner';
const GONE_MS = 10_000,
  CALL_MS = 10_000,
  ASK_AGAIN_MS = 100;

interface Listed {
  Id: string;
  Labels?: Record<string, string>;
}

/** Labels by which a later runner knows whose a container is. */
export function ownerLabels(host: Host): Record<string, string> {
  return { [LABEL]: basename(host.base), [OWNER]: ownerOf(process.pid) ?? 'unknown' };
}

/**
 * A process and its start, within this pid namespace: a runner that shares the engine from another namespace
 * is not judged.
 */
function ownerOf(pid: number): string | undefined {
  const stat = processStat(pid);
  return stat && `${readlinkSync('/proc/self/ns/pid')} ${pid} ${stat.startTime}`;
}

/**
 * Kills and removes the containers of dead runners, so that nothing of theirs runs alongside this one. Throws
 * EngineError, also where they cannot be removed.
 */
export const removeOrphans = (engine: Engine): Promise<void> =>
  removeAll(engine, ({ Labels }) => isOrphan(Labels?.[OWNER] ?? ''));

/** The same for what may still exist of this runner. */
export const removeOwn = (engine: Engine, host: Host): Promise<void> =>
  removeAll(engine, ({ Labels }) => Labels?.[LABEL] === basename(host.base));

/**
 * Repeats until the engine no longer lists them: a removal that was requested or is in progress proves
 * nothing.
 */
async function removeAll(engine: Engine, isMeant: (container: Listed) => boolean): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [LABEL] }));
  for (const deadline = Date.now() + GONE_MS; ; await sleep(ASK_AGAIN_MS)) {
    const { body } = await engine.ask('GET', `/containers/json?all=true&filters=${filters}`, {
      timeoutMs: CALL_MS,
    });
    if (!Array.isArray(body)) throw new EngineError(0, 'it does not list its containers');
    const left = (body as Listed[]).filter(isMeant);
    if (left.length === 0) return;
    if (Date.now() > deadline)
      throw new EngineError(0, `it does not remove ${left.length} containers of a runner that has ended`);
    await Promise.all(
      left.map(({ Id }) =>
        engine.ask('DELETE', `/containers/${Id}?force=true&v=true`, { timeoutMs: CALL_MS, also: [404, 409] }),
      ),
    );
  }
}

function isOrphan(owner: string): boolean {
  const [namespace, pid, startTime] = owner.split(' ');
  return namespace === readlinkSync('/proc/self/ns/pid') && !lives(Number(pid), startTime);
}
