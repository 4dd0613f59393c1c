import { Label } from 'react-aria-components/Label';
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup';
import { Text } from 'react-aria-components/Text';
import type { ReactNode } from 'react';
import type { Choice } from './fields.tsx';

/** One of few, all of them shown. */
export function Choices({
  label,
  hint,
  choices,
  value,
  onChange,
}: {
  label: string;
  hint?: ReactNode;
  choices: readonly Choice[];
  value: string;
  onChange: (id: string) => void;
}) {
  return (
    <RadioGroup value={value} onChange={onChange} className="flex flex-col gap-1">
      <Label className="label">{label}</Label>
      <div className="flex flex-wrap gap-x-5 gap-y-1">
        {choices.map(({ id, text }) => (
          <Radio key={id} value={id} className="group inline-flex min-h-6 items-center gap-2">
            <span
              aria-hidden
              className="inline-flex size-4 shrink-0 items-center justify-center rounded-full border border-strong bg-surface group-data-selected:border-water"
            >
              <span className="size-2 rounded-full group-data-selected:bg-water" />
            </span>
            {text}
          </Radio>
        ))}
      </div>
      {hint && (
        <Text slot="description" className="text-12 text-ink-3">
          {hint}
        </Text>
      )}
    </RadioGroup>
  );
}
