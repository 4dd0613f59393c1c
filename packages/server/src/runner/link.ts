/**
 * The link to the runner of this host's data folder: finds or starts it, keeps it alive by a sign of life,
 * and starts it again when it died. Runners of older versions finish what they have (former-runners.ts).
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createRunnerClient, ensureRunner } from '@headrace/runner/client';
import type { RunnerClient } from '@headrace/runner/client';
import { PROTOCOL_VERSION } from '@headrace/runner/protocol';
import type { RunnerStatus } from '@headrace/runner/protocol';
import type { Config } from '../config.ts';
import { every } from '../jobs/every.ts';
import type { Loop } from '../jobs/every.ts';
import { FormerRunners, olderSockets } from './former-runners.ts';
import { judgeStatus } from './judge-status.ts';
import { routeCalls } from './route-calls.ts';
import { socketFolder, socketName } from './socket-folder.ts';

const SIGN_OF_LIFE_MS = 1_000;

/** Where the runner of a data folder listens, for each version of the protocol elsewhere. */
export const runnerSocket = (dataDir: string): string =>
  join(socketFolder(dataDir), `${socketName(dataDir)}.v${PROTOCOL_VERSION}.runner`);

interface LinkOptions {
  config: Pick<Config, 'dataDir' | 'runnerDir' | 'sandboxDriver' | 'sandboxLimits' | 'container'>;
  /** Whether this process may start a runner (roles worker and runner). */
  starts: boolean;
  /** Whether this process has a worker, which finishes what runners of older versions have. */
  finishes: boolean;
  log: Logger;
}

class RunnerLink {
  readonly client: RunnerClient;
  readonly former = new FormerRunners();
  readonly #options: LinkOptions;
  readonly #socketPath: string;
  #last: RunnerStatus | null = null;
  #timer: NodeJS.Timeout | undefined;
  #greeting: Loop | undefined;
  #isBusy = false;
  #isAwayLogged = false;
  readonly #warned = new Set<string>();
  #isClosed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#socketPath = runnerSocket(options.config.dataDir);
    this.client = routeCalls(createRunnerClient(this.#socketPath), this.former);
  }

  /**
   * What the runner last said of itself; null while none answers. A new `pid` is a new runner: what the old
   * one held is gone.
   */
  status(): RunnerStatus | null {
    return this.#last;
  }

  /** Finds or starts the runner, logs what it lacks, and looks for its sign of life from then on. */
  async open(): Promise<void> {
    const { log } = this.#options;
    await this.former.find(await olderSockets(this.#socketPath, PROTOCOL_VERSION));
    await this.#ensure().catch((err: unknown) => this.#logNoRunner(err));
    if (this.#last && !this.#last.ok)
      log.error(
        { missing: this.#last.missing },
        'no sandbox can be made: runs, builds and commands are refused',
      );
    this.#timer = setInterval(() => void this.#beat(), SIGN_OF_LIFE_MS);
    // A migration may take longer than a runner waits for the work that comes after it.
    if (this.#options.finishes)
      this.#greeting = every(SIGN_OF_LIFE_MS, () => this.former.greet(), { onFailure: () => {} });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    void this.#greeting?.stop();
    this.client.close();
  }

  async #ensure(): Promise<void> {
    const { config, starts } = this.#options;
    if (starts)
      (
        await ensureRunner({
          stateDir: join(config.dataDir, 'runner', `v${PROTOCOL_VERSION}`),
          idDir: join(config.dataDir, 'runner'),
          socketPath: this.#socketPath,
          nodePath: process.execPath,
          sandboxes: { driver: config.sandboxDriver, ...config.container },
          place: config.runnerDir,
        })
      ).close();
    this.#last = judgeStatus(await this.client.status(), config);
    this.#logWarnings();
    this.#isAwayLogged = false;
  }

  async #beat(): Promise<void> {
    if (this.#isBusy || this.#isClosed) return;
    this.#isBusy = true;
    try {
      this.#last = judgeStatus(await this.client.status(), this.#options.config);
      this.#logWarnings();
    } catch {
      this.#last = null;
      if (!this.#isClosed) await this.#ensure().catch((err: unknown) => this.#logNoRunner(err));
    } finally {
      this.#isBusy = false;
    }
  }

  /** Each once: some are found only after the runner's start. */
  #logWarnings(): void {
    for (const warning of this.#last?.limits.warnings ?? []) {
      if (this.#warned.has(warning)) continue;
      this.#warned.add(warning);
      this.#options.log.warn(warning);
    }
  }

  /** Once, until one answers again. A process that starts none has nothing to report: others have runners. */
  #logNoRunner(err: unknown): void {
    const { starts, log } = this.#options;
    if (!starts || this.#isAwayLogged) return;
    this.#isAwayLogged = true;
    log.error({ err }, 'no runner can be started: runs, builds and commands wait');
  }
}

export async function openRunner(options: LinkOptions): Promise<RunnerLink> {
  const link = new RunnerLink(options);
  await link.open();
  return link;
}
