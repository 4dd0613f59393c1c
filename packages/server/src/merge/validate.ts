import { checkPath } from '../sources/paths.ts';
import { findClashes } from './collisions.ts';
import type { Tree } from './types.ts';

export interface BundleLimits {
  files: number;
  fileBytes: number;
  totalBytes: number;
}

export const BUNDLE_LIMITS: BundleLimits = { files: 10_000, fileBytes: 8 * 1024 * 1024, totalBytes: 32 * 1024 * 1024 };

/** A rule of source bundles that a tree breaks: at `path`, or as a whole where that is null. */
export interface TreeFault {
  path: string | null;
  message: string;
}

const MAX_FAULTS = 100;

/** What keeps a tree from being stored as a source: two valid sides can merge into too many files, or too much. At most 100 faults. */
export function validateResult(tree: Tree, limits: BundleLimits = BUNDLE_LIMITS): TreeFault[] {
  const faults: TreeFault[] = [];
  if (tree.size > limits.files) faults.push({ path: null, message: `the merge has ${tree.size} files, ${limits.files} are allowed` });
  let total = 0;
  for (const [path, entry] of tree) {
    total += entry.byteSize;
    const wrong = checkPath(path);
    if (wrong !== null) faults.push({ path, message: wrong });
    if (entry.byteSize > limits.fileBytes) faults.push({ path, message: `has ${entry.byteSize} bytes, ${limits.fileBytes} are allowed` });
  }
  if (total > limits.totalBytes) faults.push({ path: null, message: `the merge has ${total} bytes, ${limits.totalBytes} are allowed` });
  for (const path of findClashes(tree.keys())) faults.push({ path, message: 'cannot stand beside another path (ignoring case)' });
  return faults.slice(0, MAX_FAULTS);
}
