import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { Button, Toggle } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';
import { moveRow } from '../../ui/keys.ts';
import { globFault, globsOf } from './matches.ts';

/** What is searched for, as the address has it. */
export interface Wanted {
  q: string;
  regex: boolean;
  ignoreCase: boolean;
  include: string;
  exclude: string;
}

/** What the service says at each field. */
export type SearchFaults = Partial<Record<'q' | 'include' | 'exclude', string>>;

const Q_CHARACTERS = 1_000;

/** Enter searches; `/` comes here. */
export function SearchBar({
  wanted,
  faults,
  onSearch,
}: {
  wanted: Wanted;
  faults: SearchFaults;
  onSearch: (wanted: Wanted) => void;
}) {
  const [typed, setTyped] = useState(wanted);
  const [shown, setShown] = useState(wanted);
  // The address changed by itself: back, or a link.
  if (JSON.stringify(shown) !== JSON.stringify(wanted)) {
    setShown(wanted);
    setTyped(wanted);
  }
  const globFaults = { include: globFault(typed.include), exclude: globFault(typed.exclude) };
  const isWrong = globFaults.include !== null || globFaults.exclude !== null;
  const search = (next: Wanted) => {
    const sent = { ...next, include: globsOf(next.include), exclude: globsOf(next.exclude) };
    setTyped(sent);
    if (!isWrong) onSearch(sent);
  };
  /** What is said of other words than these does not hold for them. */
  const said = (name: keyof SearchFaults) => (typed[name] === wanted[name] ? (faults[name] ?? null) : null);
  const glob = (name: 'include' | 'exclude', label: string, placeholder: string) => (
    <div className="w-44 max-sm:w-full">
      <Field
        label={label}
        mono
        placeholder={placeholder}
        value={typed[name]}
        onChange={(value) => setTyped({ ...typed, [name]: value })}
        fault={globFaults[name] ?? said(name)}
      />
    </div>
  );
  return (
    <Form
      role="search"
      aria-label="Search in the files"
      className="flex flex-wrap items-start gap-x-3 gap-y-2 border-t border-line px-4 py-2"
      onSubmit={(event) => {
        event.preventDefault();
        search(typed);
      }}
    >
      <div data-find className="min-w-0 flex-1 basis-64">
        <Field
          label={typed.regex ? 'Lines that match (RE2)' : 'Lines that contain'}
          mono
          placeholder="total (/)"
          value={typed.q}
          onChange={(q) => setTyped({ ...typed, q })}
          maxLength={Q_CHARACTERS}
          fault={said('q')}
          autoFocus={wanted.q === ''}
          spellCheck="false"
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') moveRow(1);
            else event.continuePropagation();
          }}
        />
      </div>
      {glob('include', 'Only in', 'src/**, *.md')}
      {glob('exclude', 'Not in', '*.lock')}
      <div className="flex flex-wrap items-center gap-2 sm:pt-5">
        <Toggle isSelected={!typed.ignoreCase} onChange={(isOn) => search({ ...typed, ignoreCase: !isOn })}>
          Match case
        </Toggle>
        <Toggle isSelected={typed.regex} onChange={(regex) => search({ ...typed, regex })}>
          Regex
        </Toggle>
        <Button type="submit" kind="primary">
          Search
        </Button>
      </div>
    </Form>
  );
}
