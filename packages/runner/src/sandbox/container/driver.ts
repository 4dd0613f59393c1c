import type { Driver } from '../driver.ts';
import type { Host } from '../host.ts';

/** How containers are made; null: what is found, or the engine's own. */
export interface ContainerSettings {
  /** Unix socket of the engine's API (Docker or Podman). */
  socket: string | null;
  /** Image that sandboxes start from; null: an empty one, into which the host's own /usr is mounted. */
  image: string | null;
  /** OCI runtime by the engine's name for it: runc, crun, runsc, kata. */
  runtime: string | null;
}

export function containerDriver(_host: Host, _settings: ContainerSettings): Driver {
  return {
    name: 'container', seesMounts: false, limits: { memory: 'cgroup', processes: 'cgroup', cpu: 'cgroup', warnings: [] },
    missing: () => Promise.resolve(['the container driver is not there yet']),
    start() { throw new Error('the container driver is not there yet'); },
    remedy: (stderr) => stderr,
    close: () => Promise.resolve(),
  };
}
