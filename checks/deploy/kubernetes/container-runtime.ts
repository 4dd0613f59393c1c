/** containerd with runc, and a bridge for Pods: what a kubelet runs containers with. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAUSE } from './images.ts';
import { call, start, until } from './processes.ts';

const PLUGINS = '/usr/lib/cni';
/** Where programs of a node write by themselves, wherever their own folders are. */
const WRITTEN = ['/run', '/var/log', '/var/lib/cni', '/var/lib/kubelet'];
const OWN_MOUNTS = `for folder in ${WRITTEN.join(' ')}; do
  mkdir -p $folder && mount -t tmpfs tmpfs $folder || exit
done
exec "$@"`;
const IMPORT_MS = 10 * 60_000;

/** Programs that it needs, by their packages. */
export const RUNTIME_PROGRAMS = {
  containerd: 'containerd',
  runc: 'runc',
  [`${PLUGINS}/bridge`]: 'containernetworking-plugins',
};

export interface ContainerRuntime {
  endpoint: string;
  /** Begins the command line of what shares its mounts. */
  enter: string[];
  /** An archive as of `podman save`. */
  importImage(archive: string): Promise<void>;
  /** Ids of the containers that run. */
  running(): Promise<string[]>;
}

/** `folder` is its own; `bridge` is the one that it makes, with the addresses of `subnet`. */
export async function startRuntime(
  folder: string,
  { bridge, subnet }: { bridge: string; subnet: string },
): Promise<ContainerRuntime> {
  const networks = join(folder, 'networks');
  mkdirSync(networks, { recursive: true });
  writeFileSync(
    join(networks, 'pods.conflist'),
    JSON.stringify({
      cniVersion: '0.4.0',
      name: 'pods',
      plugins: [
        {
          type: 'bridge',
          bridge,
          isGateway: true,
          // A Pod may be sent to itself by a Service.
          hairpinMode: true,
          ipam: {
            type: 'host-local',
            dataDir: join(folder, 'addresses'),
            ranges: [[{ subnet }]],
            routes: [{ dst: '0.0.0.0/0' }],
          },
        },
      ],
    }),
  );
  // A socket's path has at most a hundred characters.
  const socket = join(folder, 'runtime.sock');
  const settings = join(folder, 'containerd.toml');
  writeFileSync(
    settings,
    `version = 2
root = "${folder}/containerd"
state = "/run/node"
[grpc]
address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${PAUSE}"
# What Kubernetes asks for may be below what this process may set.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${PLUGINS}"
conf_dir = "${networks}"
`,
  );
  const containerd = start(
    folder,
    'containerd',
    ['--config', settings],
    ['unshare', '--mount', 'sh', '-c', OWN_MOUNTS, 'sh'],
  );
  const ctr = (args: string[], limitMs?: number) =>
    call('ctr', ['--address', socket, '--namespace', 'k8s.io', ...args], { limitMs });
  await until('containerd answers', async () => {
    if (!containerd.isUp()) throw new Error(containerd.said());
    await ctr(['version']);
    return true;
  });
  return {
    endpoint: `unix://${socket}`,
    enter: ['nsenter', `--mount=/proc/${containerd.pid}/ns/mnt`],
    async importImage(archive) {
      await ctr(['images', 'import', archive], IMPORT_MS);
    },
    running: async () => (await ctr(['tasks', 'ls', '--quiet'])).split('\n').filter(Boolean),
  };
}
