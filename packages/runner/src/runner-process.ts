import type { Runner } from './http/routes.ts';
import { PROTOCOL_VERSION } from './protocol.ts';
import {
  forgetEngine,
  noteEngine,
  removeLeftBehind,
  removeLeftByOthers,
} from './sandbox/container/left-behind.ts';
import { chooseDriver, type DriverChoice } from './sandbox/drivers.ts';
import { storeFolder } from './sandbox/guest-store.ts';
import { prepareHost, releaseHost } from './sandbox/host.ts';
import type { Probe } from './sandbox/probe.ts';
import { warmUp } from './sandbox/warm-up.ts';
import type { GatewayDialer } from './tasks/gateways.ts';
import { Tasks } from './tasks/tasks.ts';
import { Trees } from './workspaces/trees.ts';
import { Workspaces } from './workspaces/workspaces.ts';

const REPROBE_MS = 30_000,
  LEAVE_MS = 8_000,
  LEAVE_ENGINE_MS = 30_000,
  START_GARBAGE_MS = 5_000;

interface ProcessOptions {
  dir: string;
  id: string;
  choice: DriverChoice;
  gateways: GatewayDialer;
  /** Where workspaces lie; null: it chooses. */
  place: string | null;
  /** A last word on what the probe found. */
  judge?(this: void, probe: Probe): Probe;
}

/** The runner of this process, however it is reached. */
export interface RunnerProcess {
  runner: Runner;
  /** To be called when it listens. */
  warm(): void;
  /**
   * Ends every sandbox, removes the files, exits. What does not end in time dies with this process (bwrap's
   * --die-with-parent), or is a container, which the next runner removes before it answers.
   */
  leave(code: number): Promise<void>;
  /** Gives back what it has taken: it does not start. */
  abandon(): Promise<void>;
}

/** Throws with a sentence for a person. */
export async function prepareRunner(options: ProcessOptions): Promise<RunnerProcess> {
  const { dir, id, choice, gateways, place, judge = (probe) => probe } = options;
  await removeLeftBehind(dir);
  await removeLeftByOthers(dir);
  const host = await prepareHost(storeFolder(dir), place);
  const trees = new Trees(host);
  const workspaces = new Workspaces(host, trees);
  const chosen = async (): Promise<Probe> => {
    const found = await chooseDriver(host, choice);
    const engine = host.driver?.engine;
    if (engine != null) noteEngine(dir, engine);
    return judge(found);
  };
  const runner: Runner = {
    host,
    workspaces,
    gateways,
    tasks: new Tasks(host, workspaces, gateways),
    status: { id, pid: process.pid, protocol: PROTOCOL_VERSION, asked: choice, ...(await chosen()) },
  };

  let isLeaving = false,
    isChoosing = false;
  // What is missing may be installed while the runner runs.
  setInterval(() => {
    if (runner.status.ok || isChoosing) return;
    isChoosing = true;
    void chosen()
      .then((found) => Object.assign(runner.status, found))
      .finally(() => {
        isChoosing = false;
      });
  }, REPROBE_MS).unref();
  // The start leaves 20 MiB behind, which a runner without work would keep.
  setTimeout(() => globalThis.gc?.(), START_GARBAGE_MS).unref();

  return {
    runner,
    warm() {
      if (runner.status.ok) void Promise.all([warmUp(host), trees.probe()]);
    },
    async leave(code) {
      if (isLeaving) return;
      isLeaving = true;
      setTimeout(
        () => process.exit(code || 1),
        host.driver?.engine == null ? LEAVE_MS : LEAVE_ENGINE_MS,
      ).unref();
      await Promise.allSettled(runner.tasks.all().map((task) => task.cancel()));
      try {
        await releaseHost(host);
        forgetEngine(dir);
      } catch (error) {
        process.stderr.write(`${(error as Error).message}\n`);
      }
      process.exit(code);
    },
    abandon: () => releaseHost(host),
  };
}
