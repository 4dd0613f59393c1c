import type { Difference } from './compare.ts';
import { resolveMerge } from '../../../packages/server/src/merge/resolve.ts';
import { sameEntry } from '../../../packages/server/src/trees/tree.ts';
import type { Merge, Sides } from '../../../packages/server/src/merge/types.ts';
import { withChanges } from '../../../packages/server/src/merge/with-changes.ts';

/**
 * Taking one side at every conflict, and at every clash with what merged cleanly that comes of it, leaves
 * no conflict, gives that side's files there, and touches nothing else.
 */
export function compareResolutions(merge: Merge, sides: Sides): Difference[] {
  if (merge.status === 'clean') return [];
  return (['head', 'draft'] as const).flatMap((take) => {
    const differs = (path: string | null, expected: string, got: string): Difference => ({
      path,
      what: 'resolution',
      git: `${expected} with ${take} taken`,
      headrace: got,
    });
    const conflicts = new Set(merge.conflicts.map((c) => c.path));
    let resolved = resolveMerge(merge, sides, []);
    for (let known = -1; known < conflicts.size;) {
      known = conflicts.size;
      resolved = resolveMerge(
        merge,
        sides,
        [...conflicts].map((path) => ({ path, take })),
      );
      for (const { path, kind } of resolved.remaining) if (kind === 'path') conflicts.add(path);
    }
    const { changes, remaining, faults } = resolved;
    if (faults.length > 0) return [differs(null, 'no fault', faults.map((f) => f.message).join(', '))];
    const result = withChanges(sides.head, changes);
    const unresolved = withChanges(sides.head, merge.changes);
    const paths = [...new Set([...result.keys(), ...unresolved.keys(), ...conflicts])];
    return [
      ...remaining.map((c) => differs(c.path, 'no conflict', `${c.kind} conflict`)),
      ...paths
        .filter(
          (path) =>
            !sameEntry(result.get(path), conflicts.has(path) ? sides[take].get(path) : unresolved.get(path)),
        )
        .map((path) => differs(path, 'another file', 'this file')),
    ];
  });
}
