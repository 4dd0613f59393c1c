import { Search, X } from 'lucide-react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Input } from 'react-aria-components/Input';
import { SearchField } from 'react-aria-components/SearchField';

/** A pause in typing. */
const PAUSE_MS = 250;
/** As the service. */
const MAX_LENGTH = 200;

/** A search field; `/` goes to it. What is typed is told after a pause, without spaces around it. */
export function Find({
  label,
  placeholder,
  value,
  onChange,
}: {
  label: string;
  placeholder: string;
  /** As the address has it. */
  value: string;
  onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  // What the address has, and then what it was told and does not have yet.
  const told = useRef([value]);
  useEffect(() => {
    const at = told.current.indexOf(value);
    if (at !== -1) {
      // Its answer: more may be typed since.
      told.current.splice(0, at);
      return;
    }
    // It changed by itself: back, or a link.
    told.current = [value];
    setTyped(value);
  }, [value]);
  const tell = () => {
    const text = typed.trim();
    if (text === told.current.at(-1)) return;
    told.current.push(text);
    onChange(text);
  };
  const tellLater = useEffectEvent(tell);
  useEffect(() => {
    const timer = setTimeout(() => tellLater(), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <SearchField
      aria-label={label}
      value={typed}
      onChange={setTyped}
      maxLength={MAX_LENGTH}
      onSubmit={tell}
      className="relative w-56 min-w-0 shrink max-sm:grow"
    >
      <Search size={14} aria-hidden className="absolute top-1.75 left-2 text-ink-3" />
      <Input
        data-find
        placeholder={placeholder}
        className="input px-7 [&::-webkit-search-cancel-button]:hidden"
      />
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
