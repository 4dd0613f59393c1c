import type { MergeResult } from '../merge/pool.ts';

/** The faults of resolutions as fields of the body. */
export const resolutionFields = (faults: { index: number; message: string }[]) =>
  faults.map(({ index, message }) => ({ path: `/resolutions/${index}/path`, message }));

/** The error of an apply whose merge breaks rules for sources. */
export function invalidResult({ invalid }: MergeResult): string {
  const shown = invalid
    .slice(0, 10)
    .map(({ path, message }) => (path === null ? message : `${path} ${message}`));
  return `invalid_result: The merge breaks a rule for sources: ${shown.join('; ')}${invalid.length > shown.length ? '; and more' : ''}.`;
}
