import type { Variable } from '@headrace/client';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Time } from '../../ui/values.tsx';
import type { Level } from './level.ts';
import { TARGETS } from './rules.ts';
import { TARGET_WORDS } from './targets.tsx';

/** Of a value, so much is shown. */
const SHOWN = 1_000;

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
    <ul aria-label="Variables" className="border-t border-line">
      {variables.map((variable) => (
        <Row
          key={variable.id}
          variable={variable}
          place={level.appId === null ? null : placeOf(variable, hidden, level.word)}
          isOwn={level.appId === null || variable.level === 'app'}
          actions={actions}
        />
      ))}
    </ul>
  );
}

const placeOf = ({ name, level }: Variable, hidden: ReadonlySet<string>, word: string): string =>
  level === 'organization'
    ? 'the organization’s'
    : hidden.has(name)
      ? `the ${word}’s, hides the organization’s`
      : `the ${word}’s`;

function Row({
  variable,
  place,
  isOwn,
  actions,
}: {
  variable: Variable;
  /** Null where all are of one level. */
  place: string | null;
  isOwn: boolean;
  actions: Actions | null;
}) {
  const { name, targets, updatedAt } = variable;
  const whom = TARGETS.filter((target) => targets.includes(target)).map((target) => TARGET_WORDS[target]);
  return (
    <li className="row flex-wrap gap-y-0 md:flex-nowrap">
      <div className="min-w-0 flex-1 basis-40">
        <p className="long font-mono text-mono">{name}</p>
        <Value {...variable} />
      </div>
      <p className="text-12 text-ink-2 max-md:order-1 max-md:basis-full md:w-64">
        {whom.length === TARGETS.length ? 'for all sandboxes' : `for ${whom.join(', ')}`}
        {place !== null && (
          <span className={`md:block ${isOwn ? 'text-ink-3' : 'text-water'}`}>
            <span className="md:hidden">; </span>
            {place}
          </span>
        )}
      </p>
      <span className="text-12 text-ink-3 max-md:hidden md:w-24">
        <Time at={updatedAt} />
      </span>
      {actions && (
        <span className="-mr-2.5 flex justify-end md:w-36">
          <Button
            kind="quiet"
            data-row
            aria-label={isOwn ? `Change ${name}` : `Set here: ${name}`}
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
    </li>
  );
}

function Value({ value, secret }: Variable) {
  if (secret) return <p className="text-ink-3">secret, never shown</p>;
  if (value === null) return <p className="text-fail">cannot be decrypted: set it again</p>;
  if (value === '') return <p className="text-ink-3">empty</p>;
  return (
    <p className="truncate font-mono text-mono text-ink-2">
      <Plain text={value.slice(0, SHOWN)} />
    </p>
  );
}
