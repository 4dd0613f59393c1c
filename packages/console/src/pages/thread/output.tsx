/** What a command wrote, with its colours. */
import { memo, useMemo } from 'react';
import { Plain } from '../../code/plain.tsx';
import { plainOf, spansOf } from './ansi.ts';
import type { Span } from './ansi.ts';
import { lastLines } from './cut.ts';
import { LongText } from './long-text.tsx';

const FOLDED_LINES = 3;
const FOLDED_LENGTH = 600;

/** The whole of it, in a box of its own. */
export function Output({ text, label }: { text: string; label: string }) {
  return (
    <LongText text={text}>
      {(shown) => (
        <pre
          tabIndex={0}
          aria-label={label}
          className="max-h-[480px] overflow-auto rounded bg-sunk px-2 py-1 font-mono text-mono break-words whitespace-pre-wrap"
        >
          <Coloured text={shown} />
        </pre>
      )}
    </LongText>
  );
}

/** Its last lines, as they come. */
export function LastLines({ text }: { text: string }) {
  const shown = useMemo(
    () => lastLines(plainOf(lastLines(text, 40, 8_000)), FOLDED_LINES, FOLDED_LENGTH),
    [text],
  );
  if (shown.trim() === '') return null;
  return (
    <pre className="overflow-hidden font-mono text-mono break-words whitespace-pre-wrap text-ink-3">
      <Plain text={shown} />
    </pre>
  );
}

/** Text with a terminal's colours. */
export const Coloured = memo(({ text }: { text: string }) =>
  spansOf(text).map((span, at) => <Piece key={at} {...span} />),
);

function Piece({ text, colour, bold, dim, underline }: Span) {
  const name = [colour ?? (dim && 'text-ink-3'), bold && 'font-bold', underline && 'underline']
    .filter(Boolean)
    .join(' ');
  if (name === '') return <Plain text={text} />;
  return (
    <span className={name}>
      <Plain text={text} />
    </span>
  );
}
