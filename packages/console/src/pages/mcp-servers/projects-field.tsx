import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { projectChoicesQuery } from '../../api/hooks-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Checkbox } from '../../ui/fields.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';

/** All apps and projects, or some of them. */
export function ProjectsField({
  value,
  onChange,
}: {
  /** Null: all. */
  value: readonly string[] | null;
  onChange: (value: string[] | null) => void;
}) {
  return (
    <div className="flex flex-col gap-2">
      <Choices
        label="Whose agents may use it"
        choices={[
          { id: 'all', text: 'All apps and projects' },
          { id: 'some', text: 'Only these' },
        ]}
        value={value === null ? 'all' : 'some'}
        onChange={(id) => onChange(id === 'all' ? null : [...(value ?? [])])}
      />
      {value !== null && <Some value={value} onChange={onChange} />}
    </div>
  );
}

function Some({ value, onChange }: { value: readonly string[]; onChange: (value: string[]) => void }) {
  const projects = useInfiniteQuery(projectChoicesQuery());
  const items = itemsOf(projects.data);
  return (
    <div
      role="group"
      aria-label="Apps and projects"
      tabIndex={0}
      className="max-h-48 overflow-auto rounded border border-line bg-paper px-3 py-1"
    >
      <Shown query={projects} skeleton={<Skeleton lines={2} />}>
        {() => (
          <div className="flex flex-col">
            {items.map(({ id, name, kind }) => (
              <Box key={id} id={id} value={value} onChange={onChange}>
                <Plain text={name} />
                <span className="text-12 text-ink-3"> {kind === 'platform' ? 'app' : 'project'}</span>
              </Box>
            ))}
            {value
              .filter((id) => !items.some((item) => item.id === id))
              .map((id) => (
                <Box key={id} id={id} value={value} onChange={onChange}>
                  <span className="font-mono text-mono">{id}</span>
                </Box>
              ))}
            {items.length === 0 && <p className="text-ink-2">There are no apps or projects yet.</p>}
            {projects.hasNextPage && (
              <Button
                kind="quiet"
                isPending={projects.isFetchingNextPage}
                onPress={() => void projects.fetchNextPage()}
              >
                Read more projects
              </Button>
            )}
          </div>
        )}
      </Shown>
    </div>
  );
}

function Box({
  id,
  value,
  onChange,
  children,
}: {
  id: string;
  value: readonly string[];
  onChange: (value: string[]) => void;
  children: ReactNode;
}) {
  return (
    <Checkbox
      isSelected={value.includes(id)}
      onChange={(isOn) => onChange(isOn ? [...value, id] : value.filter((one) => one !== id))}
    >
      <span className="long">{children}</span>
    </Checkbox>
  );
}
