/** The commit that a source was fetched from, and what of it is not in the source. */
import type { Source } from '@headrace/client';
import { Plain } from '../../code/plain.tsx';
import { count, CopyButton, plural } from '../../ui/values.tsx';

type Commit = NonNullable<Source['commit']>;

/** Its branch and the beginning of its id. */
export const CommitOf = ({ commit: { sha, branch } }: { commit: Commit }) => (
  <span className="flex min-w-0 items-center gap-1 text-12 text-ink-2">
    {branch !== null && (
      <span className="max-w-48 truncate" title={branch}>
        <Plain text={branch} />
      </span>
    )}
    <span className="font-mono text-mono" title={`Commit ${sha}`}>
      {sha.slice(0, 7)}
    </span>
    <CopyButton text={sha} label="Copy the commit" />
  </span>
);

const REASONS: Record<string, string> = {
  symlink: 'a symbolic link',
  submodule: 'a submodule',
  reserved_name: 'a name that the service keeps for itself',
  invalid_name: 'a name that a source cannot have',
  collision: 'differs from another path only in case or form',
  too_large: 'too large',
};

/** What stays in each commit, but is not among the files here. Nothing if that is none. */
export function KeptAside({ commit: { keptAside, keptAsideCount } }: { commit: Commit }) {
  if (keptAsideCount === 0) return null;
  return (
    <details className="px-4 pb-2">
      <summary className="min-h-6 cursor-default text-ink-2">
        {plural(keptAsideCount, 'path')} kept aside
      </summary>
      <p className="max-w-[72ch] pb-1 text-ink-2">
        They are in the commit and stay in every commit that the service makes. They are not among these
        files.
      </p>
      <ul aria-label="Paths kept aside" className="max-h-60 overflow-y-auto">
        {keptAside.map(({ path, reason }) => (
          <li key={`${reason} ${path}`} className="flex flex-wrap gap-x-3">
            <span className="long font-mono text-mono">
              <Plain text={path} />
            </span>
            <span className="text-ink-3">{REASONS[reason] ?? reason}</span>
          </li>
        ))}
      </ul>
      {keptAsideCount > keptAside.length && (
        <p className="text-ink-3">and {count(keptAsideCount - keptAside.length)} more</p>
      )}
    </details>
  );
}
