import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../../../packages/runner/src/sandbox/host.ts';
import { processTree } from '../../../packages/runner/src/sandbox/processes.ts';
import type { Canaries } from './canaries.ts';
import type { OutsideCheck } from './probe.ts';

export interface Victims {
  pids: number[];
  close(): void;
}

/** The descriptor at which each victim holds the secret open. */
const HELD = 9;

/**
 * Processes of the host for probes to attack, one for each; no probe attacks the first, which shows how an
 * untouched one looks. They run as the sandboxes' user, with the secret in their environment, in an open file
 * and in their folder: so only the namespaces are in the way.
 */
export function startVictims(host: Host, canaries: Canaries, count: number): Victims {
  const identity = host.uid === null ? {} : { uid: host.uid, gid: host.uid };
  const held = openSync(join(canaries.folder, 'secret.txt'), 'r');
  const stdio = [...Array.from({ length: HELD }, () => 'ignore' as const), held];
  const children = Array.from({ length: count }, (): ChildProcess =>
    spawn('/bin/sleep', ['300'], {
      ...identity,
      env: { CANARY_SECRET: canaries.secret },
      cwd: join(canaries.folder, 'cwd'),
      stdio,
    }),
  );
  closeSync(held);
  return {
    pids: children.map((child) => child.pid!),
    close() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}

/** The same within the pid namespace of a control: a shell line that starts them and sets V to their pids. */
export const victimsLine = (count: number): string =>
  `V=; i=0; while [ $i -lt ${count} ]; do env -i CANARY_SECRET="$S" /bin/sleep 300 ${HELD}<"$CANARY/secret.txt" >/dev/null & V="$V,$!"; i=$((i+1)); done; V="[\${V#,}]"`;

/** This host's pids of processes with these numbers in a namespace below `root`; 0 for one that is gone. */
export function pidsOnHost(root: number, inner: number[]): number[] {
  const outer = new Map(
    processTree(root).map(({ pid }) => [Number(/^NSpid:.*\t(\d+)$/m.exec(read(pid, 'status'))?.[1]), pid]),
  );
  return inner.map((pid) => outer.get(pid) ?? 0);
}

export function isHarmed(
  check: Extract<OutsideCheck, { victim: unknown }>,
  pid: number,
  untouched: number,
): boolean {
  const [state, nice, policy] = stat(pid);
  const [, usualNice, usualPolicy] = stat(untouched);
  const differs = (file: string, line: RegExp): boolean =>
    line.exec(read(pid, file))?.[0] !== line.exec(read(untouched, file))?.[0];
  const isDead = state === undefined || state === 'Z';
  switch (check.victim) {
    case 'dead':
      return isDead;
    case 'stopped':
      return state === 'T' || state === 't';
    case 'reniced':
      return !isDead && nice !== usualNice;
    case 'rescheduled':
      return !isDead && policy !== usualPolicy;
    case 'relimited':
      return !isDead && differs('limits', /^Max open files.*$/m);
    case 'pinned':
      return !isDead && differs('status', /^Cpus_allowed:.*$/m);
    case 'rewritten':
      return !isDead && differs('environ', /^.*$/s);
  }
}

function stat(pid: number): [state?: string, nice?: string, policy?: string] {
  const text = read(pid, 'stat');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return text === '' ? [] : [fields[0], fields[16], fields[38]];
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
