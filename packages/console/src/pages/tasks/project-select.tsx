import type { Project } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { projectNamesQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Select } from '../../ui/fields.tsx';

const ALL = ' all';
const MORE = ' more';

/** Names of projects and apps, by id, as far as they were read. */
export function useProjectName(): (projectId: string) => string {
  const projects = useInfiniteQuery(projectNamesQuery());
  const names = new Map(itemsOf(projects.data).map(({ id, name }) => [id, name]));
  return (projectId) => names.get(projectId) ?? projectId;
}

/** One project or app. `all`: what the choice of none says; missing where one has to be chosen. `kind`: only these. */
export function ProjectSelect({
  value,
  onChange,
  all,
  kind: only,
  quiet = false,
}: {
  value: string | null;
  onChange: (projectId: string | null) => void;
  all?: string;
  kind?: Project['kind'];
  /** The label is only for screen readers. */
  quiet?: boolean;
}) {
  const projects = useInfiniteQuery(projectNamesQuery());
  const known = itemsOf(projects.data)
    .filter(({ kind }) => only === undefined || kind === only)
    .map(({ id, name, kind }) => ({
      id,
      text: name,
      ...(only === undefined && { note: kind === 'platform' ? 'app' : 'project' }),
    }));
  const choices = [
    ...(all === undefined ? [] : [{ id: ALL, text: all }]),
    ...known,
    ...(value === null || known.some(({ id }) => id === value) ? [] : [{ id: value, text: value }]),
    ...(projects.hasNextPage ? [{ id: MORE, text: 'Read more projects' }] : []),
  ];
  return (
    <Select
      label="Project"
      quiet={quiet}
      choices={choices}
      value={value ?? (all === undefined ? null : ALL)}
      onChange={(id) => {
        if (id === MORE) void projects.fetchNextPage();
        else onChange(id === ALL ? null : id);
      }}
    />
  );
}
