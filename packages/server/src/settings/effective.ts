import type { Db } from '../db/database.ts';
import { rowsPrepared } from '../db/prepared.ts';
import type { MergeMethod, ProjectRow, StoredSettings } from '../db/schema.ts';
import type { Tx } from '../db/transaction.ts';

export interface EffectiveSettings {
  /** null: the service's (`config.idleTimeoutMinutes`). */
  idleTimeoutMinutes: number | null;
  modelId: string;
  /** null: no limit. */
  spendLimitMicros: number | null;
  /** What the project's own setting allows in a UTC month; null: no budget. */
  budgetMicros: number | null;
  /** What the whole organization may spend in a UTC month; null: no budget. */
  organizationBudgetMicros: number | null;
  /** First match wins; where none matches: allow. */
  approvals: NonNullable<StoredSettings['approvals']>;
  egress: NonNullable<StoredSettings['egress']>;
  /** At once in the project; null: as many as the workers take. */
  concurrency: { runs: number | null; builds: number | null };
  /** At once in all projects of the organization together; null: no bound. */
  organizationConcurrency: { runs: number | null; builds: number | null };
  /** The system of its sandboxes; null: the host's own. */
  runtime: string | null;
  /** null: none. */
  setup: { command: string; paths: string[]; timeoutSeconds: number } | null;
  /** null: any page may frame a preview. */
  frameAncestors: string[] | null;
  pullRequests: { draft: boolean };
  reviewLoop: {
    enabled: boolean;
    autoMerge: boolean;
    maxPasses: number;
    /** null: the first one that the repository allows. */
    mergeMethod: MergeMethod | null;
    instructions: string;
    reply: boolean;
  };
}

/**
 * What holds in a project (its row, or one of a thread or run of it): its own setting, else its
 * organization's, else the service's default.
 */
export async function effectiveSettings(
  db: Db | Tx['db'],
  of: Pick<ProjectRow, 'id' | 'settings'> | { project_id: string },
): Promise<EffectiveSettings> {
  const [found] = await rowsPrepared(
    db,
    'settings_of_project',
    db
      .selectFrom('projects as p')
      .innerJoin('organizations as o', 'o.id', 'p.org_id')
      .select(['p.settings as own', 'o.settings as organization'])
      .where('p.id', '=', 'project_id' in of ? of.project_id : of.id),
  );
  return resolveSettings(found!.own, found!.organization);
}

export function resolveSettings(own: StoredSettings, organization: StoredSettings): EffectiveSettings {
  return {
    idleTimeoutMinutes: own.idleTimeoutMinutes ?? organization.idleTimeoutMinutes ?? null,
    modelId: own.modelId ?? organization.modelId ?? 'scripted',
    spendLimitMicros: own.spendLimitMicros ?? organization.spendLimitMicros ?? null,
    budgetMicros: own.budgetMicros ?? null,
    organizationBudgetMicros: organization.budgetMicros ?? null,
    approvals: own.approvals ?? organization.approvals ?? [],
    egress: own.egress ?? organization.egress ?? { mode: 'none', hosts: [] },
    concurrency: {
      runs: own.concurrency?.runs ?? organization.concurrency?.runs ?? null,
      builds: own.concurrency?.builds ?? organization.concurrency?.builds ?? null,
    },
    organizationConcurrency: {
      runs: organization.concurrency?.runs ?? null,
      builds: organization.concurrency?.builds ?? null,
    },
    runtime: own.runtime ?? organization.runtime ?? null,
    setup: resolveSetup(own.setup ?? organization.setup),
    frameAncestors: own.preview?.frameAncestors ?? organization.preview?.frameAncestors ?? null,
    pullRequests: { draft: own.pullRequests?.draft ?? organization.pullRequests?.draft ?? false },
    reviewLoop: resolveLoop(own.reviewLoop, organization.reviewLoop),
  };
}

const DEFAULT_SETUP_SECONDS = 300;

function resolveSetup(stored: StoredSettings['setup']): EffectiveSettings['setup'] {
  if (!stored || stored.command === null) return null;
  const { command, paths, timeoutSeconds = DEFAULT_SETUP_SECONDS } = stored;
  return { command, paths, timeoutSeconds };
}

const resolveLoop = (
  own: StoredSettings['reviewLoop'],
  organization: StoredSettings['reviewLoop'],
): EffectiveSettings['reviewLoop'] => ({
  enabled: own?.enabled ?? organization?.enabled ?? false,
  autoMerge: own?.autoMerge ?? organization?.autoMerge ?? false,
  maxPasses: own?.maxPasses ?? organization?.maxPasses ?? 5,
  mergeMethod: own?.mergeMethod ?? organization?.mergeMethod ?? null,
  instructions: own?.instructions ?? organization?.instructions ?? '',
  reply: own?.reply ?? organization?.reply ?? true,
});
