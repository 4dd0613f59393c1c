/** The runners of a release: what the service knows of them, and which Pods they are. */
import { Resolver } from 'node:dns/promises';
import { ADDRESS } from './addresses.ts';
import type { Stored } from './api.ts';
import type { Database } from './database.ts';
import { until } from './processes.ts';
import type { Release } from './release.ts';

export interface Runners {
  /** Resolves once as many, and no others, take work. Throws if one of them warns of something. */
  registered(count: number): Promise<void>;
  /** The Pod that has a thread's workspace. */
  podOf(thread: string): Promise<Stored>;
  /** Throws if workers find no such Pod by the name of its runner. */
  requireName(pod: Stored): Promise<void>;
}

export function runnersOf(release: Release, database: Database): Runners {
  const resolver = new Resolver();
  resolver.setServers([ADDRESS]);
  return {
    async registered(count) {
      const ready = await until(`${count} runners are registered`, async () => {
        const rows = await database.query<{ warnings: string[] }>(
          `select status->'limits'->'warnings' as warnings
          from runners where state = 'ready' and not is_draining and is_ok`,
        );
        return rows.length === count && rows;
      });
      const [warning] = ready.flatMap(({ warnings }) => warnings);
      if (warning !== undefined) throw new Error(`a runner warns: ${warning}`);
    },
    async podOf(thread) {
      const [row] = await database.query<{ name: string }>(
        'select r.name from threads t join runners r on r.boot_id = t.runner_id where t.id = $1',
        [thread.split('/').at(-1)!],
      );
      const pod = (await release.pods('runner')).find(({ metadata }) => metadata.name === row?.name);
      if (pod === undefined) throw new Error(`no Pod is the runner ${row?.name}`);
      return pod;
    },
    async requireName({ metadata, status }) {
      const [row] = await database.query<{ address: string }>('select address from runners where name = $1', [
        metadata.name,
      ]);
      const name = row!.address.split(':')[0]!;
      const found = await resolver.resolve4(name);
      if (!found.includes(status.podIP as string)) throw new Error(`${name} is at ${found.join(', ')}`);
    },
  };
}
