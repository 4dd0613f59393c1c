import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { projectNamesQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/plain.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Checkbox, Field } from '../../ui/fields.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Id } from '../../ui/values.tsx';

/** As the service takes. */
export const MOST_PROJECTS = 100;
const SCOPES = [
  { id: 'all', text: 'All apps and projects' },
  { id: 'some', text: 'Only chosen ones' },
];

/** Null: all of the organization. */
export function ProjectChoice({
  value,
  onChange,
  fault,
}: {
  value: readonly string[] | null;
  onChange: (value: string[] | null) => void;
  fault: string | null;
}) {
  return (
    <div className="flex flex-col gap-2">
      <Choices
        label="It reaches"
        choices={SCOPES}
        value={value === null ? 'all' : 'some'}
        onChange={(id) => onChange(id === 'all' ? null : [])}
        hint={value !== null && 'It can then neither create apps nor find repositories.'}
      />
      {value !== null && <Projects value={value} onChange={onChange} />}
      {fault && (
        <p role="alert" className="text-12 text-fail">
          {fault}
        </p>
      )}
    </div>
  );
}

function Projects({
  value,
  onChange,
}: {
  value: readonly string[];
  onChange: (value: string[] | null) => void;
}) {
  const projects = useInfiniteQuery(projectNamesQuery());
  const [sought, setSought] = useState('');
  const choose = (id: string, isOn: boolean) =>
    onChange(isOn ? [...value, id] : value.filter((one) => one !== id));
  return (
    <Shown query={projects} skeleton={<Skeleton lines={3} height={24} />}>
      {(data) => {
        const items = itemsOf(data);
        const names = new Map(items.map(({ id, name }) => [id, name]));
        const text = sought.trim().toLowerCase();
        // A choice may be of one that is yet to be made, or no more there.
        const ids = [...new Set([...items.map(({ id }) => id), ...value])].filter(
          (id) => text === '' || id === text || (names.get(id) ?? '').toLowerCase().includes(text),
        );
        const isNewId = /^prj_[0-9a-z]{26}$/.test(text) && !ids.includes(text);
        return (
          <>
            <Field
              label="Find by name, or give an id"
              value={sought}
              onChange={setSought}
              hint={
                projects.hasNextPage
                  ? `The ${items.length} newest are listed. Others can be given by their ids.`
                  : undefined
              }
            />
            <ul
              aria-label="Apps and projects"
              className="flex max-h-48 flex-col overflow-auto border-y border-line py-1"
            >
              {(isNewId ? [text] : ids).map((id) => (
                <li key={id}>
                  <Checkbox isSelected={value.includes(id)} onChange={(isOn) => choose(id, isOn)}>
                    <span className="long">
                      {names.has(id) ? <Plain text={names.get(id)!} /> : <Id value={id} copy={false} />}
                    </span>
                  </Checkbox>
                </li>
              ))}
              {ids.length === 0 && !isNewId && <li className="text-ink-3">None of that name.</li>}
            </ul>
          </>
        );
      }}
    </Shown>
  );
}
