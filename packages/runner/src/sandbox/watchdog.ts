import { spawn } from 'node:child_process';
import { statfsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { SandboxLimits } from '../protocol.ts';
import type { Host } from './host.ts';
import { processTree } from './processes.ts';
import type { Sandbox } from './driver.ts';

const INTERVAL_MS = 500;
/**
 * Measuring takes about this share of the time, but never lets more than the longest pause go by: on a busy
 * machine an agent would have all of it.
 */
const SHARE = 0.05,
  LONGEST_PAUSE_MS = 5000;
const LOW_BYTES = 256 * 1024 ** 2;
const PAGE = 4096;

/**
 * Watches what no kernel limit bounds: the size of the workspace (with its agent's HOME), and memory and
 * processes where there are no cgroups. Calls `overrun` once, with a sentence for a person. Returns what
 * ends the watch.
 */
export function watchSandbox(
  host: Host,
  sandbox: Sandbox,
  folders: string[],
  limits: SandboxLimits,
  overrun: (reason: string) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined,
    isOver = false,
    nextMeasure = Date.now() + INTERVAL_MS;
  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
  };
  const refuse = (reason: string): void => {
    if (!isOver) {
      stop();
      overrun(reason);
    }
  };
  const measure = async (): Promise<void> => {
    if (host.driver?.limits.memory === 'watchdog') refuseTree(sandbox, limits, refuse);
    const { bavail, bsize } = statfsSync(host.base);
    if (!isOver && (Date.now() >= nextMeasure || bavail * bsize < LOW_BYTES)) {
      const begun = Date.now();
      const [bytes, entries] = await Promise.all([
        measured(host, folders, '-skx', 1024),
        measured(host, folders, '-sx', 1, '--inodes'),
      ]);
      nextMeasure = Date.now() + Math.min((Date.now() - begun) / SHARE, LONGEST_PAUSE_MS);
      if (bytes > limits.diskBytes)
        refuse(`The workspace took more than its ${Math.round(limits.diskBytes / 1024 ** 2)} MiB of disk.`);
      // Empty ones take no disk that du would tell, but the file system has an end of them too.
      if (entries > limits.diskBytes / PAGE)
        refuse(`The workspace held more than ${Math.round(limits.diskBytes / PAGE)} files and folders.`);
    }
  };
  const look = async (): Promise<void> => {
    try {
      await measure();
    } catch {
      /* short of descriptors: it looks again */
    }
    if (!isOver) timer = setTimeout(() => void look(), INTERVAL_MS);
  };
  timer = setTimeout(() => void look(), INTERVAL_MS);
  return stop;
}

function refuseTree(sandbox: Sandbox, limits: SandboxLimits, refuse: (reason: string) => void): void {
  const init = sandbox.initPid();
  if (init === undefined) return;
  const tree = processTree(init);
  if (tree.length > limits.processes) refuse(`The sandbox had more than its ${limits.processes} processes.`);
  if (tree.reduce((sum, p) => sum + p.residentPages * PAGE, 0) > limits.memoryBytes)
    refuse('The sandbox took more than its memory.');
}

/**
 * What du tells of these folders together, as the sandboxes' own user who may look into folders that are
 * closed (an agent could hide its files there): it follows no link and tells a number for each folder, so a
 * live tree cannot mislead it into harm.
 */
async function measured(
  host: Host,
  folders: string[],
  what: string,
  unit: number,
  ...more: string[]
): Promise<number> {
  const du = ['/usr/bin/du', what, ...more, '--', ...folders];
  const mayLookIn =
    host.uid === null
      ? ['unshare', '--user', '--map-root-user']
      : [
          'setpriv',
          `--reuid=${host.uid}`,
          `--regid=${host.uid}`,
          '--clear-groups',
          '--inh-caps=-all,+dac_read_search',
          '--ambient-caps=-all,+dac_read_search',
          '--bounding-set=-all,+dac_read_search',
        ];
  const text = (await outputOf([...mayLookIn, ...du])) || (host.uid === null ? await outputOf(du) : '');
  return unit * text.split('\n').reduce((sum, line) => sum + (Number.parseInt(line, 10) || 0), 0);
}

function outputOf([command, ...args]: string[]): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(command!, args, {
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 60_000,
    });
    let text = '';
    child.once('error', () => resolve('')).once('close', () => resolve(text));
    (child.stdout as Readable | undefined)?.setEncoding('latin1').on('data', (part: string) => {
      text += part;
    }); // none where descriptors have run out
  });
}
