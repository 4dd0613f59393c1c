/** A line of text with suggestions, which somebody else finds for what is typed. */
import type { ReactNode } from 'react';
import { ComboBox as AriaComboBox } from 'react-aria-components/ComboBox';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Text } from 'react-aria-components/Text';
import type { Choice } from './fields.tsx';

/** All are offered: they were found for what is typed. */
const isOffered = () => true;

export function Combo({
  label,
  hint,
  fault,
  placeholder = '',
  mono = false,
  isReadOnly = false,
  choices,
  typed,
  onType,
  onPick,
}: {
  label: string;
  hint?: ReactNode;
  fault?: string | null | undefined;
  placeholder?: string;
  mono?: boolean;
  isReadOnly?: boolean;
  choices: readonly Choice[];
  typed: string;
  /** Also with the text of what is picked. */
  onType: (text: string) => void;
  onPick?: (choice: Choice) => void;
}) {
  return (
    <AriaComboBox
      items={choices}
      inputValue={typed}
      onInputChange={onType}
      // The list closes when what is typed is one of them.
      value={choices.find(({ text }) => text === typed)?.id ?? null}
      onChange={(key) => {
        const choice = choices.find(({ id }) => id === key);
        if (!choice) return;
        onType(choice.text);
        onPick?.(choice);
      }}
      defaultFilter={isOffered}
      menuTrigger="focus"
      allowsCustomValue
      isReadOnly={isReadOnly}
      isInvalid={Boolean(fault)}
      validationBehavior="aria"
      className="flex w-full flex-col gap-1"
    >
      <Label className="label">{label}</Label>
      <Input placeholder={placeholder} className={`input ${mono ? 'font-mono text-mono' : ''}`} />
      {hint && (
        <Text slot="description" className="text-12 text-ink-3">
          {hint}
        </Text>
      )}
      <FieldError className="text-12 text-fail">{fault}</FieldError>
      <Popover className="popover max-h-64 w-(--trigger-width) overflow-auto">
        <ListBox items={choices}>
          {({ id, text, note }) => (
            <ListBoxItem id={id} textValue={text} className="item">
              <span className={`long ${mono ? 'font-mono text-mono' : ''}`}>{text}</span>
              {note && <span className="ml-auto text-12 text-ink-3">{note}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaComboBox>
  );
}
