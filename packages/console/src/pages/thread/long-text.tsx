/** Text of any length, shown in steps. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { count } from '../../ui/values.tsx';
import { cutStart, FIRST, STEP } from './cut.ts';

/** `children` gets what is shown of the text. */
export function LongText({ text, children }: { text: string; children: (shown: string) => ReactNode }) {
  const [length, setLength] = useState(FIRST);
  const shown = cutStart(text, length);
  const left = text.length - shown.length;
  return (
    <>
      {children(shown)}
      {left > 0 && (
        <div className="flex flex-wrap items-center gap-2 py-1 text-12 text-ink-3">
          <span>{count(left)} more characters</span>
          <Button onPress={() => setLength(length + STEP)}>{left <= STEP ? 'Show all' : 'Show more'}</Button>
        </div>
      )}
    </>
  );
}
