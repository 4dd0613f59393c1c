/** What a command wrote, with its colours. */
import { useMemo } from 'react';
import { AnsiView, plainOutput } from '../../code/index.ts';
import { lastLines } from './cut.ts';
import { LongText } from './long-text.tsx';
import { Wrapped } from './wrapped.tsx';

const FOLDED_LINES = 3;
const FOLDED_LENGTH = 600;

/** The whole of it, in a box of its own. */
export function Output({ text, label }: { text: string; label: string }) {
  return <LongText text={text}>{(shown) => <AnsiView text={shown} label={label} />}</LongText>;
}

/** Its last lines, as they come. */
export function LastLines({ text }: { text: string }) {
  const shown = useMemo(
    () => lastLines(plainOutput(lastLines(text, 40, 8_000)), FOLDED_LINES, FOLDED_LENGTH),
    [text],
  );
  if (shown.trim() === '') return null;
  return (
    <pre className="overflow-hidden font-mono text-mono break-words whitespace-pre-wrap text-ink-3">
      <Wrapped text={shown} />
    </pre>
  );
}
