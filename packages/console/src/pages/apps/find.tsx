import { Search, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Input } from 'react-aria-components/Input';
import { SearchField } from 'react-aria-components/SearchField';

/** A pause in typing. */
const PAUSE_MS = 250;
/** As the service. */
const MAX_LENGTH = 200;

/** A search field; `/` goes to it. What is typed is told after a pause. */
export function Find({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  // The address may change by itself: back, or a link.
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => onChange(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <SearchField
      aria-label={label}
      value={typed}
      onChange={setTyped}
      maxLength={MAX_LENGTH}
      onSubmit={() => onChange(typed.trim())}
      className="relative w-56"
    >
      <Search size={14} aria-hidden className="absolute top-1.75 left-2 text-ink-3" />
      <Input data-find placeholder="Name" className="input px-7 [&::-webkit-search-cancel-button]:hidden" />
      {typed && (
        <Button
          aria-label="Clear"
          className="absolute top-0 right-0 inline-flex size-7 items-center justify-center text-ink-3"
        >
          <X size={14} aria-hidden />
        </Button>
      )}
    </SearchField>
  );
}
