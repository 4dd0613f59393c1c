import { useState } from 'react';

/** A search in code: Enter goes to the next match, with Shift to the one before. `/` comes here. */
export function FindField({
  text,
  onText,
  search,
  missing,
}: {
  text: string;
  onText: (text: string) => void;
  search: (back: boolean) => boolean;
  missing: string;
}) {
  const [isMissing, setMissing] = useState(false);
  return (
    <span className="flex items-center gap-2" role="search">
      <input
        type="search"
        data-find
        aria-label="Find in the code"
        placeholder="Find (/)"
        className="input w-40 max-sm:w-28"
        value={text}
        aria-invalid={isMissing}
        onChange={(event) => {
          onText(event.currentTarget.value);
          setMissing(false);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') setMissing(text !== '' && !search(event.shiftKey));
          else if (event.key === 'Escape') {
            onText('');
            event.currentTarget.blur();
          }
        }}
      />
      <span role="status" className="text-12 text-ink-2 empty:hidden">
        {isMissing ? missing : ''}
      </span>
    </span>
  );
}
