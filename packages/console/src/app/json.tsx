/** A document as the API gives it: as text, a long one folded. */
import { useMemo, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { CopyButton, count } from '../ui/values.tsx';
import { Plain } from '../code/plain.tsx';

const FOLDED_LINES = 60;
/** No more is put on the page; the copy has all of it. */
const MOST_CHARACTERS = 200_000;

export function Json({ label, value }: { label: string; value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  const lines = useMemo(() => text.split('\n'), [text]);
  const isLong = lines.length > FOLDED_LINES;
  const shown = isLong && !isWhole ? lines.slice(0, FOLDED_LINES).join('\n') : text;
  return (
    <div className="relative">
      <pre
        tabIndex={0}
        aria-label={label}
        className="overflow-x-auto rounded bg-sunk p-2 pr-10 font-mono text-mono"
      >
        <Plain text={shown.slice(0, MOST_CHARACTERS)} />
        {shown.length > MOST_CHARACTERS && ' …'}
      </pre>
      <span className="absolute top-1 right-1">
        <CopyButton text={text} label={`Copy: ${label}`} />
      </span>
      {isLong && (
        <div className="mt-1">
          <Button kind="quiet" onPress={() => setWhole(!isWhole)}>
            {isWhole ? 'Fold' : `Show all ${count(lines.length)} lines`}
          </Button>
        </div>
      )}
    </div>
  );
}
