/** Why nothing was applied. Decisions stay in every case. */
import type { ReactNode } from 'react';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, plural } from '../../ui/values.tsx';
import type { Sending } from './use-send.ts';

export function Faults({
  sending,
  isLoose,
  off,
  onAnyway,
}: {
  sending: Sending;
  isLoose: boolean;
  off: string | null;
  onAnyway: () => void;
}) {
  const { fault, outcome } = sending;
  return (
    <>
      {isLoose && <Line>This browser keeps nothing: your decisions are lost if the page is closed.</Line>}
      {fault && (
        <Line isFault>
          <span className="long mr-auto">
            <b className="font-bold">{fault.title}.</b> {fault.message} Nothing is lost: apply again when it
            works.
          </span>
          {fault.requestId && (
            <span className="flex items-center font-mono text-mono text-ink-3">
              request {fault.requestId}
              <CopyButton text={fault.requestId} label="Copy the request’s id" />
            </span>
          )}
        </Line>
      )}
      {outcome?.end === 'stale' && (
        <Line>
          The {outcome.what} has moved since you decided, so nothing was applied. Equal conflicts keep their
          decision; changed ones are open again. Look at them, then apply again.
        </Line>
      )}
      {outcome?.end === 'open' && (
        <Line>
          Your texts are in the draft now, which leaves {plural(outcome.count, 'conflict')} open. Nothing was
          applied.
        </Line>
      )}
      {outcome?.end === 'too-many' && (
        <Line>
          {plural(outcome.count, 'decision')} are more than one apply takes. Give whole folders one side.
        </Line>
      )}
      {outcome?.end === 'lost' && (
        <Line>
          <span className="long mr-auto">
            Where your text is that of the base, the merge takes the head’s lines. The result does not have
            your text at{' '}
            {outcome.paths.map((path, i) => (
              <span key={path} className="font-mono text-mono">
                {i > 0 && ', '}
                <Plain text={path} />
              </span>
            ))}
            . Nothing was applied yet.
          </span>
          <Button offBecause={off} onPress={onAnyway}>
            Apply with the head’s lines
          </Button>
        </Line>
      )}
    </>
  );
}

function Line({ isFault = false, children }: { isFault?: boolean; children: ReactNode }) {
  return (
    <div
      role="alert"
      className={`flex flex-wrap items-center gap-3 border-t px-4 py-2 ${isFault ? 'border-fail bg-fail-wash' : 'border-wait bg-wait-wash'}`}
    >
      {children}
    </div>
  );
}
