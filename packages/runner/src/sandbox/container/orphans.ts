import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import type { Host } from '../host.ts';
import { processStat } from '../processes.ts';
import type { Engine } from './engine.ts';

const LABEL = 'headrace.runner', OWNER = 'headrace.owner';

/** By which a later runner knows whose a container is. */
export function ownerLabels(host: Host): Record<string, string> {
  return { [LABEL]: basename(host.base), [OWNER]: ownerOf(process.pid) ?? 'unknown' };
}

/** Process and its start, within this pid namespace: another runner's that shares the engine from elsewhere is not judged. */
function ownerOf(pid: number): string | undefined {
  const stat = processStat(pid);
  return stat && `${readlinkSync('/proc/self/ns/pid')} ${pid} ${stat.startTime}`;
}

/** Kills and removes the containers of runners that have died: nothing of theirs goes on beside this one. Throws EngineError. */
export async function removeOrphans(engine: Engine): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [LABEL] }));
  const { body } = await engine.ask('GET', `/containers/json?all=true&filters=${filters}`);
  const orphans = (body as { Id: string; Labels?: Record<string, string> }[]).filter(({ Labels }) => isOrphan(Labels?.[OWNER] ?? ''));
  for (const { Id } of orphans) await engine.ask('DELETE', `/containers/${Id}?force=true&v=true`, { also: [404, 409] });
}

function isOrphan(owner: string): boolean {
  const [namespace, pid] = owner.split(' ');
  return namespace === readlinkSync('/proc/self/ns/pid') && ownerOf(Number(pid)) !== owner;
}
