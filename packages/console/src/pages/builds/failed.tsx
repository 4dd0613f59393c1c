/** Why a build or a setup failed, and what to do about it. */
import type { ReactNode } from 'react';
import { Plain, plainOutput } from '../../code/index.ts';

export function Failed({
  message,
  exitCode,
  children,
}: {
  message: string;
  exitCode: number | null;
  /** What to do. */
  children: ReactNode;
}) {
  const isSaid = exitCode === null || exitCode === 0 || message.includes(String(exitCode));
  return (
    <div role="alert" className="mx-4 mb-2 border-l-2 border-fail pl-3">
      <p className="long font-bold">
        <Plain text={plainOutput(message)} />
        {!isSaid && ` (exit ${exitCode})`}
      </p>
      <p className="text-ink-2">{children}</p>
    </div>
  );
}
