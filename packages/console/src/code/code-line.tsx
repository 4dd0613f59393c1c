import type { ReactNode } from 'react';
import { MAX_LINE } from './limits.ts';
import { Plain } from './plain.tsx';
import { segmentsOf } from './segments.ts';
import type { Marks } from './segments.ts';
import type { Highlights } from './tokens.ts';

interface Props {
  text: string;
  highlights?: Highlights | null | undefined;
  /** Index of the line in `highlights`. */
  line?: number;
  marks?: Marks[];
}

/** One line of code: coloured, marked, hostile characters visible, cut where it is very long. */
export function CodeLine({ text, highlights, line = -1, marks }: Props): ReactNode {
  const shown = text.length > MAX_LINE ? text.slice(0, MAX_LINE) : text;
  const segments = segmentsOf(shown, highlights, line, marks);
  return (
    <>
      {segments.map(({ text, className }, index) =>
        className === '' ? (
          <Plain key={index} text={text} />
        ) : (
          <span key={index} className={className}>
            <Plain text={text} />
          </span>
        ),
      )}
      {text.length > MAX_LINE && (
        <span className="code-note">+{(text.length - MAX_LINE).toLocaleString('en')} characters</span>
      )}
    </>
  );
}
