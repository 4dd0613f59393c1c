import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { ansiLines } from './ansi.ts';
import { CodeLine } from './code-line.tsx';

/** Output of a command: its colours, no other escape codes. For short texts; lines are not virtual. */
export function AnsiView({ text, label }: { text: string; label: string }): ReactNode {
  const lines = useMemo(() => ansiLines(text), [text]);
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-[480px] overflow-auto rounded bg-sunk px-2 py-1 font-mono text-mono break-all whitespace-pre-wrap"
    >
      {lines.map(({ text: line, marks }, index) => (
        <div key={index} className="min-h-5">
          <CodeLine text={line} marks={marks} />
        </div>
      ))}
    </pre>
  );
}
