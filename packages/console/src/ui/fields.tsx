/** Fields with a label, a hint and what is wrong with them. */
import type { ReactNode } from 'react';
import { Button } from 'react-aria-components/Button';
import { Checkbox as AriaCheckbox } from 'react-aria-components/Checkbox';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Switch as AriaSwitch } from 'react-aria-components/Switch';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField } from 'react-aria-components/TextField';
import type { CheckboxProps } from 'react-aria-components/Checkbox';
import type { SwitchProps } from 'react-aria-components/Switch';
import type { TextFieldProps } from 'react-aria-components/TextField';
import { ChevronDown } from 'lucide-react';

interface Described {
  label: string;
  hint?: ReactNode;
  /** What is wrong with the value; the field is then marked. */
  fault?: string | null | undefined;
}

/** One line; `lines`: a field of several. `mono`: for paths, ids and code. */
export function Field({
  label,
  hint,
  fault,
  lines,
  mono = false,
  placeholder,
  ...props
}: Described &
  Omit<TextFieldProps, 'className' | 'style'> & { lines?: number; mono?: boolean; placeholder?: string }) {
  const shape = `input ${mono ? 'font-mono text-mono' : ''}`;
  return (
    <AriaTextField
      {...props}
      // False hides what the browser finds: it would go as the field is left, and move the button that is pressed.
      isInvalid={Boolean(fault)}
      // Natively, a field that the service refused would keep its form from being sent again.
      {...(fault && { validationBehavior: 'aria' })}
      className="flex w-full flex-col gap-1"
    >
      <Label className="label">{label}</Label>
      {lines ? (
        <TextArea rows={lines} placeholder={placeholder ?? ''} className={shape} />
      ) : (
        <Input placeholder={placeholder ?? ''} className={shape} />
      )}
      {hint && (
        <Text slot="description" className="text-12 text-ink-3">
          {hint}
        </Text>
      )}
      <FieldError className="text-12 text-fail">{fault}</FieldError>
    </AriaTextField>
  );
}

export interface Choice {
  id: string;
  text: string;
  note?: string;
}

/** One of several. `quiet`: the label is only for screen readers. */
export function Select({
  label,
  choices,
  value,
  onChange,
  quiet = false,
}: {
  label: string;
  choices: Choice[];
  value: string | null;
  onChange: (id: string) => void;
  quiet?: boolean;
}) {
  return (
    <AriaSelect
      {...(quiet && { 'aria-label': label })}
      value={value}
      onChange={(key) => key !== null && onChange(String(key))}
      className="flex flex-col gap-1"
    >
      {!quiet && <Label className="label">{label}</Label>}
      <Button className="button justify-between">
        <SelectValue className="long text-left">
          {({ isPlaceholder, defaultChildren }) => (isPlaceholder ? 'Choose one' : defaultChildren)}
        </SelectValue>
        <ChevronDown size={14} aria-hidden />
      </Button>
      <Popover className="popover max-h-80 min-w-(--trigger-width) overflow-auto">
        <ListBox items={choices}>
          {({ id, text, note }) => (
            <ListBoxItem id={id} textValue={text} className="item">
              <span className="long">{text}</span>
              {note && <span className="ml-auto text-12 text-ink-3">{note}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

export function Switch({
  children,
  ...props
}: Omit<SwitchProps, 'className' | 'children'> & { children: ReactNode }) {
  return (
    <AriaSwitch {...props} className="group inline-flex min-h-6 items-center gap-2">
      <span
        aria-hidden
        className="inline-flex h-4 w-7 shrink-0 items-center rounded border border-strong bg-sunk p-0.5 group-data-selected:justify-end group-data-selected:border-water group-data-selected:bg-water"
      >
        <span className="size-2.5 rounded bg-ink-3 group-data-selected:bg-paper" />
      </span>
      {children}
    </AriaSwitch>
  );
}

export function Checkbox({
  children,
  ...props
}: Omit<CheckboxProps, 'className' | 'children'> & { children?: ReactNode }) {
  return (
    <AriaCheckbox {...props} className="group inline-flex min-h-6 items-center gap-2">
      <span
        aria-hidden
        className="inline-flex size-4 shrink-0 items-center justify-center rounded border border-strong bg-surface text-paper group-data-indeterminate:bg-water group-data-selected:border-water group-data-selected:bg-water"
      >
        <svg width="10" height="10" viewBox="0 0 10 10" className="hidden group-data-selected:block">
          <path d="M1.5 5.5l2.5 2.5 4.5-6" fill="none" stroke="currentColor" strokeWidth="1.8" />
        </svg>
      </span>
      {children}
    </AriaCheckbox>
  );
}
