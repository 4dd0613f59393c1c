/** What the settings of a project and the operator's configuration give to each of its sandboxes. */
import type { TaskRequest } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import { effectiveSettings } from './effective.ts';
import { egressOf } from './egress.ts';

type SandboxPart = Pick<
  TaskRequest,
  'egress' | 'privateHosts' | 'endpoints' | 'authorities' | 'env' | 'runtime'
>;

/** That part of a task's request, by what holds in its project now. */
export async function sandboxOf(
  { db, config }: Pick<Context, 'db' | 'config'>,
  of: { project_id: string },
): Promise<SandboxPart> {
  const settings = await effectiveSettings(db, of);
  const { env: registries, ...egress } = egressOf(settings.egress, config.egress);
  const { runtime: name } = settings;
  // One that the operator took away is left to the runner, which refuses what it cannot give.
  const runtime = config.runtimes.find((one) => one.name === name);
  const env = { ...runtime?.env, ...registries };
  return {
    ...egress,
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(config.egress.authorities === null ? {} : { authorities: config.egress.authorities }),
    ...(name === null
      ? {}
      : { runtime: { name, root: runtime?.root ?? null, image: runtime?.image ?? null } }),
  };
}
