import { Checkbox } from '../../ui/fields.tsx';
import { Note } from '../settings/limits.tsx';
import { TARGETS } from './rules.ts';
import type { Target } from './rules.ts';

export const TARGET_WORDS: Record<Target, string> = {
  run: 'runs',
  exec: 'commands',
  build: 'builds',
  preview: 'previews',
};

/** Which sandboxes have it. */
export function Targets({
  value,
  onChange,
  fault,
}: {
  value: readonly Target[];
  onChange: (targets: Target[]) => void;
  fault: string | null;
}) {
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="label">Given to</legend>
      <div className="flex flex-wrap gap-x-5 gap-y-1">
        {TARGETS.map((target) => (
          <Checkbox
            key={target}
            isSelected={value.includes(target)}
            onChange={(isOn) =>
              onChange(TARGETS.filter((one) => (one === target ? isOn : value.includes(one))))
            }
          >
            {TARGET_WORDS[target]}
          </Checkbox>
        ))}
      </div>
      <Note fault={fault}>An agent can read what its runs are given.</Note>
    </fieldset>
  );
}
