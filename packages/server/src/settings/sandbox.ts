/** What settings, variables and the operator's configuration give to each sandbox of a project. */
import type { TurnRequest } from '@headrace/runner/protocol';
import type { Context } from '../context.ts';
import type { VariableTarget } from '../db/schema.ts';
import { variablesOf } from '../environment/index.ts';
import { effectiveSettings } from './effective.ts';
import { egressOf } from './egress.ts';

type SandboxPart = Pick<
  TurnRequest,
  | 'egress'
  | 'privateHosts'
  | 'endpoints'
  | 'authorities'
  | 'env'
  | 'runtime'
  | 'variables'
  | 'secrets'
  | 'variableTargets'
>;

/**
 * That part of a task's request, by what holds in its project now; `variableTargets` for `run` alone. A
 * `runtime` takes the place of the project's.
 */
export async function sandboxOf(
  ctx: Pick<Context, 'db' | 'config' | 'secretKey' | 'log'>,
  of: { org_id: string; project_id: string; runtime?: string | null },
  target: VariableTarget,
): Promise<SandboxPart> {
  const { db, config } = ctx;
  const [settings, variables] = await Promise.all([effectiveSettings(db, of), variablesOf(ctx, of, target)]);
  const { env: registries, ...egress } = egressOf(settings.egress, config.egress);
  const name = of.runtime === undefined ? settings.runtime : of.runtime;
  // One that the operator took away is left to the runner, which refuses what it cannot give.
  const runtime = config.runtimes.find((one) => one.name === name);
  const env = { ...runtime?.env, ...registries };
  return {
    ...egress,
    ...variables,
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(config.egress.authorities === null ? {} : { authorities: config.egress.authorities }),
    ...(name === null
      ? {}
      : { runtime: { name, root: runtime?.root ?? null, image: runtime?.image ?? null } }),
  };
}
