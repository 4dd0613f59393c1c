import type { Source } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { sourcesQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Select } from '../../ui/fields.tsx';

/** What a source is called: its message, else where it is from. */
export const sourceName = (source: Source): string => {
  const line = source.message?.split('\n', 1)[0]?.trim();
  return line ? line.slice(0, 80) : (ORIGINS[source.origin] ?? source.origin);
};

/** A commit's subject, after the beginning of its id. */
export const commitName = ({
  commit,
  message,
}: {
  commit: { sha: string };
  message: string | null;
}): string => `${commit.sha.slice(0, 7)} ${message?.split('\n', 1)[0]?.trim().slice(0, 80) ?? ''}`.trim();

export const ORIGINS: Record<string, string> = {
  import: 'Import',
  edit: 'Edit by hand',
  run: 'Run',
  restore: 'Restore',
  apply: 'Apply',
  recovery: 'Recovery',
};

const LONGEST = 28;
const cut = (name: string) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);

/** One of the newest sources; the page of all sources compares any two. */
export function SourcePicker({
  label,
  appId,
  source,
  onPick,
}: {
  label: string;
  appId: string;
  source: Source | null;
  onPick: (id: string) => void;
}) {
  const sources = useInfiniteQuery(sourcesQuery(appId));
  const listed = itemsOf(sources.data);
  const choices = source && !listed.some(({ id }) => id === source.id) ? [source, ...listed] : listed;
  return (
    <div className="min-w-0">
      <Select
        // Options that come later would keep the order in which they came.
        key={sources.data ? 'all' : 'one'}
        quiet
        label={source ? `${label}: ${sourceName(source)}` : label}
        value={source?.id ?? null}
        choices={choices.map((choice) => ({
          id: choice.id,
          text: `${cut(sourceName(choice))} …${choice.id.slice(-6)}`,
        }))}
        onChange={onPick}
      />
    </div>
  );
}
