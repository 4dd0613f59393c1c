import type { StoredSettings } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';
import { checkPath } from '../trees/paths.ts';

/** Throws `invalid_request` with each path that a source cannot have. */
export function requireSetupPaths(setup: StoredSettings['setup']): void {
  const fields = (setup?.paths ?? []).flatMap((path, index) => {
    const fault = path === '.' ? null : checkPath(path.replace(/(?<=.)\/$/, ''));
    return fault === null ? [] : [{ path: `/setup/paths/${index}`, message: fault }];
  });
  if (fields.length > 0) throw invalid(...fields);
}
