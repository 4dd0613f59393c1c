/** Runs work again when files in a folder have changed, one time after the other, until Ctrl-C. */
import { isCode } from '@headrace/client';
import { FolderChangedError } from '@headrace/client/node';
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault } from '../core/fault.ts';
import { reportOf } from '../core/report.ts';
import { lasting } from '../terminal/times.ts';

/** Nothing may change for so long before the work begins; while things go on changing, it begins after the longer time. */
const SETTLE_MS = 300;
const LONGEST_SETTLE_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** `work` returns the folders to watch, relative to the folder. Ends only by throwing. */
export async function watchFolder(
  cli: Cli,
  folder: string,
  work: () => Promise<readonly string[]>,
): Promise<never> {
  const changes = new Changes(folder, cli.signal);
  let retryMs = FIRST_RETRY_MS;
  let said = '';
  try {
    for (;;) {
      try {
        changes.follow(await work());
        if (said !== 'watching') cli.say('Watching for changes. Ctrl-C ends.');
        said = 'watching';
        retryMs = FIRST_RETRY_MS;
        await changes.settled();
      } catch (error) {
        cli.signal.throwIfAborted();
        // The first time, the user is there to correct what is wrong.
        if (said === '' || !isPassing(error)) throw error;
        const { message } = reportOf(error);
        if (message !== said) cli.say(`${message} Trying again, next in ${lasting(retryMs)}.`);
        said = message;
        await changes.settled(retryMs);
        retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
      }
    }
  } finally {
    changes.close();
  }
}

/** Whether the same work may succeed later: the service is away or busy, or the user is about to correct the files. */
function isPassing(error: unknown): boolean {
  const { exit } = reportOf(error);
  return (
    exit === EXIT.unreachable ||
    exit === EXIT.busy ||
    error instanceof FolderChangedError ||
    isCode(error, 'invalid_bundle')
  );
}

class Changes {
  readonly #folder: string;
  readonly #signal: AbortSignal;
  readonly #watchers = new Map<string, FSWatcher>();
  #isChanged = false;
  #wake: () => void = () => {};

  constructor(folder: string, signal: AbortSignal) {
    this.#folder = folder;
    this.#signal = signal;
  }

  /** A folder that was not watched until now may have changed since the work looked at it. */
  follow(folders: readonly string[]): void {
    const wanted = new Set(folders);
    for (const folder of this.#watchers.keys()) if (!wanted.has(folder)) this.#end(folder);
    for (const folder of wanted) {
      if (this.#watchers.has(folder)) continue;
      const watcher = this.#watch(folder);
      if (watcher) this.#watchers.set(folder, watcher);
      this.#note();
    }
  }

  /** Null for a folder that is no longer there. */
  #watch(folder: string): FSWatcher | null {
    try {
      const watcher = watch(join(this.#folder, folder), (event, name) => {
        // Another folder may be there by now, with others in it.
        if (event === 'rename' && name !== null) this.#drop(`${folder}${name}/`);
        this.#note();
      });
      watcher.on('error', () => this.#note());
      return watcher;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return null;
      throw new Fault(EXIT.failed, `The folder cannot be watched: ${(error as Error).message}`, {
        hint: code === 'ENOSPC' ? 'sudo sysctl fs.inotify.max_user_watches=524288' : 'headrace push',
      });
    }
  }

  #drop(prefix: string): void {
    for (const folder of this.#watchers.keys()) if (folder.startsWith(prefix)) this.#end(folder);
  }

  #end(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  #note(): void {
    this.#isChanged = true;
    this.#wake();
  }

  /** Resolves when something has changed and nothing more does, or after a time. Rejects on Ctrl-C. */
  async settled(atMostMs?: number): Promise<void> {
    if (!this.#isChanged) await this.#changed(atMostMs);
    const since = Date.now();
    while (this.#isChanged && Date.now() - since < LONGEST_SETTLE_MS) {
      this.#isChanged = false;
      await sleep(SETTLE_MS, undefined, { signal: this.#signal });
    }
    this.#isChanged = false;
  }

  async #changed(atMostMs: number | undefined): Promise<void> {
    const timer = new AbortController();
    const changed = new Promise<void>((resolve, reject) => {
      this.#wake = resolve;
      timer.signal.addEventListener('abort', () => resolve());
      this.#signal.addEventListener('abort', () => reject(this.#signal.reason as Error), {
        once: true,
        signal: timer.signal,
      });
    });
    const timeout = atMostMs === undefined ? undefined : setTimeout(() => timer.abort(), atMostMs);
    try {
      this.#signal.throwIfAborted();
      await changed;
    } finally {
      clearTimeout(timeout);
      timer.abort();
    }
  }

  close(): void {
    this.#drop('');
  }
}
