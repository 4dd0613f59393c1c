import type { Variable } from '@headrace/client';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Time } from '../../ui/values.tsx';
import type { Level } from './level.ts';
import { TARGETS } from './rules.ts';
import { TARGET_WORDS } from './targets.tsx';

interface Actions {
  onSet: (name: string) => void;
  onDelete: (variable: Variable) => void;
}

/** By name. `hidden`: names of the organization's variables that the app's own ones hide, where they are known. */
export function VariableList({
  level,
  variables,
  hidden,
  actions,
}: {
  level: Level;
  variables: readonly Variable[];
  hidden: ReadonlySet<string>;
  /** Null: the user may not change them. */
  actions: Actions | null;
}) {
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className="max-sm:hidden">
            Value
          </th>
          <th scope="col" className="max-md:hidden">
            Given to
          </th>
          {level.appId !== null && (
            <th scope="col" className="max-md:hidden">
              Set at
            </th>
          )}
          <th scope="col" className="max-sm:hidden">
            Changed
          </th>
          <th scope="col">
            <span className="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {variables.map((variable) => (
          <Row
            key={variable.id}
            level={level}
            variable={variable}
            isHiding={hidden.has(variable.name) && variable.level === 'app'}
            actions={actions}
          />
        ))}
      </tbody>
    </table>
  );
}

function Row({
  level,
  variable,
  isHiding,
  actions,
}: {
  level: Level;
  variable: Variable;
  isHiding: boolean;
  actions: Actions | null;
}) {
  const { name, targets, updatedAt } = variable;
  const isOwn = level.appId === null || variable.level === 'app';
  const place = isOwn ? (isHiding ? 'this app, hides the organization’s' : 'this app') : 'the organization';
  const whom = TARGETS.filter((target) => targets.includes(target))
    .map((target) => TARGET_WORDS[target])
    .join(', ');
  return (
    <tr>
      <td className="align-top">
        <span className="long font-mono text-mono">{name}</span>
        <span className="block sm:hidden">
          <Value {...variable} />
        </span>
        <span className="block text-12 text-ink-3 md:hidden">
          {whom}
          {level.appId !== null && `; set at ${place}`}
        </span>
      </td>
      <td className="w-full max-w-0 max-sm:hidden">
        <Value {...variable} />
      </td>
      <td className="max-md:hidden">{whom}</td>
      {level.appId !== null && <td className={`max-md:hidden ${isOwn ? '' : 'text-ink-2'}`}>{place}</td>}
      <td className="max-sm:hidden">
        <Time at={updatedAt} />
      </td>
      <td className="text-right whitespace-nowrap">
        {actions && (
          <span className="-mr-2.5 inline-flex max-sm:flex-col">
            <Button
              kind="quiet"
              data-row
              aria-label={isOwn ? `Change ${name}` : `Set ${name} in this app`}
              onPress={() => actions.onSet(name)}
            >
              {isOwn ? 'Change' : 'Set here'}
            </Button>
            {isOwn && (
              <Button kind="quiet" aria-label={`Delete ${name}`} onPress={() => actions.onDelete(variable)}>
                Delete
              </Button>
            )}
          </span>
        )}
      </td>
    </tr>
  );
}

function Value({ value, secret }: Variable) {
  if (secret) return <span className="text-ink-3">secret, never shown</span>;
  if (value === null) return <span className="text-fail">cannot be decrypted: set it again</span>;
  if (value === '') return <span className="text-ink-3">empty</span>;
  return (
    <span className="block truncate font-mono text-mono" title={value.slice(0, 1000)}>
      <Plain text={value.slice(0, 1000)} />
    </span>
  );
}
