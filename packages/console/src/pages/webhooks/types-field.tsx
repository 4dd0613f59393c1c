import { Choices } from '../../ui/choices.tsx';
import { Checkbox } from '../../ui/fields.tsx';
import { EVENT_WORDS, GROUPS, MOST_TYPES, toggled, unknownOf } from './event-types.ts';

/** Which events: all, or groups and single types. */
export function TypesField({
  isAll,
  chosen,
  fault,
  onChange,
}: {
  isAll: boolean;
  chosen: readonly string[];
  fault: string | null;
  onChange: (isAll: boolean, chosen: string[]) => void;
}) {
  const set = (type: string) => (isOn: boolean) => onChange(false, toggled(chosen, type, isOn));
  return (
    <div className="flex flex-col gap-2">
      <Choices
        label="Events"
        choices={[
          { id: 'all', text: 'All' },
          { id: 'some', text: 'Only these' },
        ]}
        value={isAll ? 'all' : 'some'}
        onChange={(id) => onChange(id === 'all', [...chosen])}
        hint={isAll ? 'Of Direct projects. Events of apps are on their feeds.' : undefined}
      />
      {!isAll && (
        <div
          role="group"
          aria-label="Types of events"
          tabIndex={0}
          className="max-h-72 overflow-auto rounded border border-line bg-paper px-3 py-1"
        >
          {GROUPS.map(({ group, types }) => (
            <div key={group} className="border-b border-line py-1 last:border-0 sm:flex sm:gap-3">
              <div className="shrink-0 sm:w-56">
                <Checkbox isSelected={chosen.includes(group)} onChange={set(group)}>
                  <span className="font-mono text-mono">{group}</span>
                </Checkbox>
              </div>
              <div className="flex min-w-0 flex-col max-sm:pl-6">
                {types.map((type) => (
                  <Checkbox
                    key={type}
                    isSelected={chosen.includes(type) || chosen.includes(group)}
                    isDisabled={chosen.includes(group)}
                    onChange={set(type)}
                  >
                    <span className="long">
                      <span className="font-mono text-mono">{type.slice(group.length - 1)}</span>
                      <span className="text-12 text-ink-3"> {EVENT_WORDS[type]}</span>
                    </span>
                  </Checkbox>
                ))}
              </div>
            </div>
          ))}
          {unknownOf(chosen).map((type) => (
            <Checkbox key={type} isSelected onChange={set(type)}>
              <span className="font-mono text-mono">{type}</span>
            </Checkbox>
          ))}
        </div>
      )}
      {!isAll && (
        <p className="text-12 text-ink-3">A group also has the types that later versions add to it.</p>
      )}
      {fault && (
        <p role="alert" className="text-12 text-fail">
          {fault}
        </p>
      )}
    </div>
  );
}

/** Why these cannot be saved; null if they can. */
export const typesFault = (isAll: boolean, chosen: readonly string[]): string | null =>
  isAll
    ? null
    : chosen.length === 0
      ? 'Choose at least one type of event.'
      : chosen.length > MOST_TYPES
        ? `At most ${MOST_TYPES}: choose groups.`
        : null;
