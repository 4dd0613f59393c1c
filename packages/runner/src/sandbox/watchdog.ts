import { statfsSync } from 'node:fs';
import type { SandboxLimits } from '../protocol.ts';
import { diskUsage } from './disk-usage.ts';
import type { Host } from './host.ts';
import { processTree } from './processes.ts';
import type { Sandbox } from './driver.ts';

const INTERVAL_MS = 500;
/** Measuring takes about this share of the time. */
const SHARE = 0.05;
/** Bounds the pause between two measurements: on a busy machine it would grow, and an agent could use it. */
const LONGEST_PAUSE_MS = 5000;
const LOW_BYTES = 256 * 1024 ** 2;
const PAGE = 4096;

/** Which limit a sandbox has broken, and a sentence for a person. */
export interface Overrun {
  of: 'memory' | 'processes' | 'disk';
  message: string;
}

/**
 * Watches what no kernel limit bounds: the size of the workspace (with its agent's HOME), and memory and
 * processes where there are no cgroups. Calls `onOverrun` once. Returns the function that ends the
 * watch.
 */
export function watchSandbox(
  host: Host,
  sandbox: Sandbox,
  { folders, limits }: { folders: string[]; limits: SandboxLimits },
  onOverrun: (overrun: Overrun) => void,
): () => void {
  const watchdog = new Watchdog(host, sandbox, { folders, limits }, onOverrun);
  watchdog.start();
  return () => watchdog.stop();
}

class Watchdog {
  readonly #host: Host;
  readonly #sandbox: Sandbox;
  readonly #folders: string[];
  readonly #limits: SandboxLimits;
  readonly #onOverrun: (overrun: Overrun) => void;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #nextMeasureAt = Date.now() + INTERVAL_MS;

  constructor(
    host: Host,
    sandbox: Sandbox,
    { folders, limits }: { folders: string[]; limits: SandboxLimits },
    onOverrun: (overrun: Overrun) => void,
  ) {
    this.#host = host;
    this.#sandbox = sandbox;
    this.#folders = folders;
    this.#limits = limits;
    this.#onOverrun = onOverrun;
  }

  start(): void {
    this.#timer = setTimeout(() => void this.#look(), INTERVAL_MS);
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    try {
      if (this.#host.driver?.limits.memory === 'watchdog') this.#checkProcesses();
      const { bavail, bsize } = statfsSync(this.#host.base);
      if (!this.#isOver && (Date.now() >= this.#nextMeasureAt || bavail * bsize < LOW_BYTES))
        await this.#checkFiles();
    } catch {
      /* short of descriptors: it looks again */
    }
    if (!this.#isOver) this.start();
  }

  #checkProcesses(): void {
    const init = this.#sandbox.initPid();
    if (init === undefined) return;
    const tree = processTree(init);
    const { processes, memoryBytes } = this.#limits;
    if (tree.length > processes)
      this.#refuse('processes', `The sandbox had more than its ${processes} processes.`);
    if (tree.reduce((sum, p) => sum + p.residentPages * PAGE, 0) > memoryBytes)
      this.#refuse('memory', 'The sandbox took more than its memory.');
  }

  async #checkFiles(): Promise<void> {
    const begun = Date.now();
    const [kibibytes, entries] = await Promise.all([
      totalUsage(this.#host, this.#folders, ['-skx']),
      totalUsage(this.#host, this.#folders, ['-sx', '--inodes']),
    ]);
    this.#nextMeasureAt = Date.now() + Math.min((Date.now() - begun) / SHARE, LONGEST_PAUSE_MS);
    const { diskBytes } = this.#limits;
    if (kibibytes * 1024 > diskBytes)
      this.#refuse(
        'disk',
        `The workspace took more than its ${Math.round(diskBytes / 1024 ** 2)} MiB of disk.`,
      );
    // Empty files take no disk space that du shows, but the file system has a limit of them too.
    if (entries > diskBytes / PAGE)
      this.#refuse('disk', `The workspace held more than ${Math.round(diskBytes / PAGE)} files and folders.`);
  }

  #refuse(of: Overrun['of'], message: string): void {
    if (this.#isOver) return;
    this.stop();
    this.#onOverrun({ of, message });
  }
}

const totalUsage = async (host: Host, folders: string[], options: string[]): Promise<number> =>
  (await diskUsage(host, folders, options)).values().reduce((sum, count) => sum + count, 0);
