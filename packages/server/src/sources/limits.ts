import type { Context } from '../context.ts';
import type { ProjectRow } from '../db/schema.ts';
import { BUNDLE_LIMITS } from '../trees/limits.ts';
import type { SourceLimits } from '../trees/limits.ts';

/** What a source of this project may hold. */
export const limitsOf = (
  { config }: Pick<Context, 'config'>,
  project: Pick<ProjectRow, 'repository_id'>,
): SourceLimits => (project.repository_id === null ? BUNDLE_LIMITS : config.repositoryLimits);
