/** Nodes that run Pods, names, a database, and a release to be installed there. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';
import { startPostgres } from './database.ts';
import { archiveOf } from './images.ts';
import type { Image } from './images.ts';
import { serveNames } from './names.ts';
import { startNode, startProxy } from './node.ts';
import type { Node, RealNode } from './node.ts';
import { keepLogs } from './pod-logs.ts';
import { NAMESPACE, prepareRelease } from './release.ts';
import type { Release, Role } from './release.ts';
import { runnersOf } from './runners.ts';
import type { Runners } from './runners.ts';

const RUNNERS = 'headrace.dev/runner';
/** The second one is for runners alone, as the guide has it. */
const NODES: (Node & { images: Image[] })[] = [
  { name: 'real-common', labels: {}, images: ['service', 'pause'] },
  {
    name: 'real-runners',
    labels: { [RUNNERS]: 'true' },
    taints: [{ key: RUNNERS, effect: 'NoSchedule' }],
    images: ['runner', 'pause'],
  },
];
/** Of the chart's own values. */
export const COUNTS: Record<Role, number> = { api: 2, worker: 2, runner: 2 };
export const nodeOf = (role: string): string => NODES[role === 'runner' ? 1 : 0]!.name;

export interface Live {
  nodes: RealNode[];
  release: Release;
  runners: Runners;
  end(): Promise<void>;
}

/** `images` has the archives of images.ts. */
export async function startLive(cluster: Cluster, scratch: string, images: string): Promise<Live> {
  // Pods' users pass through it.
  chmodSync(scratch, 0o711);
  const nodes: RealNode[] = [];
  for (const [number, node] of NODES.entries())
    nodes.push(await startNode(cluster, scratch, { ...node, number }));
  startProxy(cluster, scratch, nodes[0]!.name);
  for (const [number, { images: wanted }] of NODES.entries())
    for (const image of wanted) await nodes[number]!.runtime.importImage(archiveOf(images, image));
  const repeated = [
    serveNames(cluster.api, scratch),
    keepLogs(cluster.api, NAMESPACE, join(scratch, 'pods')),
  ];
  const database = await startPostgres(scratch);
  const release = await prepareRelease(cluster, scratch, database);
  return {
    nodes,
    release,
    runners: runnersOf(release, database),
    async end() {
      for (const one of repeated) await one.stop();
      release.close();
      await database.stop();
    },
  };
}
