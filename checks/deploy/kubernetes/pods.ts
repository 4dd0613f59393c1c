/** The chart's life on nodes that run its Pods: installed, used, hurt, upgraded under load, drained, removed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { newAppWith, newReadyThread } from '../../harness/apps.ts';
import { begin, ended } from '../../torture/lost-runners/runs.ts';
import type { Stored } from './api.ts';
import { COUNTS, nodeOf } from './live.ts';
import type { Live } from './live.ts';
import { repeat, until } from './processes.ts';
import { requireNoRestarts } from './release.ts';
import { upgradeUnderLoad } from './rolling.ts';

const FILES = [{ path: 'a.txt', content: 'a\n' }];
/** As the guide to many machines promises. */
const LOST_MS = 35_000;
const DRAIN_SECONDS = 20;
const LEFT_MS = 180_000;
const LOOK_MS = 200;

const never = new AbortController().signal;

export interface PodsLife {
  install(): Promise<string>;
  work(): Promise<string>;
  loseRunner(): Promise<string>;
  upgrade(): Promise<string>;
  drain(): Promise<string>;
  uninstall(): Promise<string>;
}

export function podsOf(live: Live): PodsLife {
  const { nodes, release, runners } = live;
  let app = '';
  let sourceId = '';

  async function fileOf(source: string | null, path: string): Promise<string> {
    const { body } = await release.caller.call('GET', `${app}/sources/${source!}/file?path=${path}`);
    return body.file.content as string;
  }

  return {
    async install() {
      let migration: Stored | undefined;
      const watching = repeat('migration', LOOK_MS, async () => {
        for (const pod of await release.pods('migrate')) migration = pod;
      });
      await release.install().finally(() => watching.stop());
      const migrated = migration?.status?.containerStatuses?.[0]?.state?.terminated;
      if (migrated?.exitCode !== 0)
        throw new Error(`the migration ended as ${JSON.stringify(migration?.status)}`);
      const pods = await release.ready(COUNTS);
      await runners.registered(COUNTS.runner);
      requireNoRestarts(Object.values(pods).flat());
      for (const [role, some] of Object.entries(pods))
        for (const { metadata, spec } of some)
          if (spec.nodeName !== nodeOf(role))
            throw new Error(`${metadata.name} is on the node ${spec.nodeName}`);
      const starts = Object.entries(pods).map(
        ([role, some]) => `${role} ${some.map(readyAfter).join(' and ')} s`,
      );
      return `the migration ended with 0; ready after ${starts.join(', ')}; the runners are registered`;
    },

    async work() {
      const { caller } = release;
      ({ app, sourceId } = await newAppWith(caller, FILES));
      const thread = await newReadyThread(caller, app, sourceId);
      const run = await begin(caller, thread, never, '```sh\ncat a.txt > b.txt; id -u >> b.txt\n```');
      const { status, resultSourceId, error } = await ended(caller, run.path, never);
      if (status !== 'completed') throw new Error(`the run is ${status}: ${error?.code}`);
      const written = await fileOf(resultSourceId, 'b.txt');
      if (!/^a\n\d+\n$/.test(written)) throw new Error(`the run wrote ${JSON.stringify(written)}`);
      const { body } = await caller.call('POST', `${app}/builds`, {
        command: 'mkdir out && cp a.txt out/index.html',
        outputDirectory: 'out',
      });
      const build = await until('the build ends', async () => {
        const { build: now } = (await caller.call('GET', `${app}/builds/${body.build.id as string}`)).body;
        return ['ready', 'failed'].includes(now.status as string) && now;
      });
      if (build.status !== 'ready') throw new Error(`the build is ${JSON.stringify(build)}`);
      return `an imported source, a run with its files in ${(await runners.podOf(thread)).metadata.name}, a build`;
    },

    async loseRunner() {
      const { caller } = release;
      const thread = await newReadyThread(caller, app, sourceId);
      const run = await begin(caller, thread, never);
      const pod = await runners.podOf(thread);
      await release.deletePod(pod, 0);
      const killed = nodes.reduce((sum, node) => sum + node.kill(pod.metadata.uid), 0);
      const at = Date.now();
      if (killed === 0) throw new Error(`${pod.metadata.name} had no processes`);
      const lost = await ended(caller, run.path, never);
      const tookMs = Date.parse(lost.finishedAt) - at;
      if (lost.error?.code !== 'worker_lost')
        throw new Error(`the run is ${lost.status}: ${lost.error?.code}`);
      if (tookMs > LOST_MS) throw new Error(`the run ended ${tookMs} ms after its Pod`);
      const next = await begin(caller, thread, never, '```sh\necho next > next.txt\n```');
      const { status } = await ended(caller, next.path, never);
      const other = await runners.podOf(thread);
      if (status !== 'completed' || other.metadata.uid === pod.metadata.uid)
        throw new Error(`the next run is ${status} in ${other.metadata.name}`);
      await release.ready(COUNTS);
      await runners.registered(COUNTS.runner);
      const seconds = (tookMs / 1000).toFixed(1);
      return `${killed} processes killed: the run ended as worker_lost after ${seconds} s; the next message worked in another Pod`;
    },

    upgrade: () => upgradeUnderLoad(live, { app, sourceId }),

    async drain() {
      const { caller } = release;
      const thread = await newReadyThread(caller, app, sourceId);
      const content = `\`\`\`sh\nfor i in $(seq ${DRAIN_SECONDS}); do echo $i >> work.txt; sleep 1; done\n\`\`\``;
      const run = await begin(caller, thread, never, content);
      const pod = await runners.podOf(thread);
      const isThere = async () =>
        (await release.pods('runner')).some(({ metadata }) => metadata.uid === pod.metadata.uid);
      await release.deletePod(pod);
      // Until the controllers have heard of it.
      await sleep(2_000);
      await runners.requireName(pod);
      const { status, resultSourceId, finishedAt, error } = await ended(caller, run.path, never);
      if (status !== 'completed') throw new Error(`the run is ${status}: ${error?.code}`);
      if (!(await isThere())) throw new Error('the Pod was gone before its run had ended');
      const lines = (await fileOf(resultSourceId, 'work.txt')).split('\n').length - 1;
      if (lines !== DRAIN_SECONDS) throw new Error(`the run wrote ${lines} lines`);
      await until('the Pod ends', async () => !(await isThere()));
      const seconds = ((Date.now() - Date.parse(finishedAt)) / 1000).toFixed(1);
      await release.ready(COUNTS);
      return `the run completed; its Pod ended ${seconds} s later`;
    },

    async uninstall() {
      await release.uninstall();
      let left: string[] = [];
      await until(
        'everything is gone',
        async () => (left = await release.left()).length === 0,
        LEFT_MS,
      ).catch((error: Error) => {
        throw new Error(`${error.message}: ${left.join(', ')}`);
      });
      for (const { name, runtime } of nodes)
        await until(
          `no container runs on ${name}`,
          async () => (await runtime.running()).length === 0,
          LEFT_MS,
        );
      return 'nothing left, and no container runs';
    },
  };
}

/** Seconds from its creation. */
function readyAfter({ metadata, status }: Stored): number {
  const ready = status.conditions.find(({ type }: { type: string }) => type === 'Ready');
  return (Date.parse(ready.lastTransitionTime) - Date.parse(metadata.creationTimestamp)) / 1000;
}
