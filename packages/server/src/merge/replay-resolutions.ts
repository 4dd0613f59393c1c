import type { Difference } from './replay-compare.ts';
import { resolveMerge } from './resolve.ts';
import { sameEntry } from './types.ts';
import type { Merge, Sides } from './types.ts';
import { withChanges } from './with-changes.ts';

/** Taking one side at every conflict leaves no conflict, gives that side's files there, and touches nothing else. */
export function compareResolutions(merge: Merge, sides: Sides): Difference[] {
  if (merge.status === 'clean') return [];
  return (['head', 'draft'] as const).flatMap((take) => {
    const differs = (path: string | null, expected: string, got: string): Difference => ({ path, what: 'resolution', git: `${expected} with ${take} taken`, headrace: got });
    const { changes, remaining, faults } = resolveMerge(merge, sides, merge.conflicts.map(({ path }) => ({ path, take })));
    if (faults.length > 0) return [differs(null, 'no fault', faults.map((f) => f.message).join(', '))];
    const result = withChanges(sides.head, changes);
    const unresolved = withChanges(sides.head, merge.changes);
    const conflicts = new Set(merge.conflicts.map((c) => c.path));
    const paths = [...new Set([...result.keys(), ...unresolved.keys(), ...conflicts])];
    return [
      ...remaining.map((c) => differs(c.path, 'no conflict', `${c.kind} conflict`)),
      ...paths.filter((path) => !sameEntry(result.get(path), conflicts.has(path) ? sides[take].get(path) : unresolved.get(path))).map((path) => differs(path, 'another file', 'this file')),
    ];
  });
}
