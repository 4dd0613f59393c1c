/** Why nothing was applied. Decisions stay in every case. */
import type { ReactNode } from 'react';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton, plural } from '../../ui/values.tsx';
import type { Lost } from './send.ts';
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
  const { fault, outcome, isEdited } = sending;
  const edited = isEdited ? 'The draft has been edited by your decisions; nothing was applied. ' : '';
  return (
    <>
      {isLoose && <Line>This browser keeps nothing: your decisions are lost if the page is closed.</Line>}
      {fault && (
        <Line isFault>
          <span className="long mr-auto">
            <b className="font-bold">{fault.title}.</b> {fault.message} {edited}Nothing is lost: apply again
            when it works.
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
          The {outcome.what} has moved since you decided, so nothing was applied.
          {isEdited && ' The draft has been edited by your decisions.'} Equal conflicts keep their decision;
          changed ones are open again. Look at them, then apply again.
        </Line>
      )}
      {outcome?.end === 'open' && (
        <Line>
          {isEdited && 'The draft has been edited by your decisions. '}
          {plural(outcome.count, 'conflict is', 'conflicts are')} open. Nothing was applied.
        </Line>
      )}
      {outcome?.end === 'too-many' && (
        <Line>
          {plural(outcome.count, 'decision')} are more than one apply takes. Give whole folders one side.
        </Line>
      )}
      {outcome?.end === 'lost' && <LostLine lost={outcome} off={off} onAnyway={onAnyway} />}
    </>
  );
}

function LostLine({ lost, off, onAnyway }: { lost: Lost; off: string | null; onAnyway: () => void }) {
  const { texts, heads } = lost;
  return (
    <Line>
      <span className="long mr-auto">
        {texts.length > 0 && (
          <>
            Where your text is that of the base, the merge takes the head’s lines. The result does not have
            your text at <Paths paths={texts} />.{' '}
          </>
        )}
        {heads.length > 0 && (
          <>
            You took the head’s side, but nothing is in conflict there any more, and the merge takes changes
            of the draft. The result does not have the head’s side at <Paths paths={heads} />.{' '}
          </>
        )}
        Nothing was applied yet.
      </span>
      <Button offBecause={off} onPress={onAnyway}>
        {heads.length === 0
          ? 'Apply with the head’s lines'
          : texts.length === 0
            ? 'Apply with the draft’s side'
            : 'Apply what the merge takes'}
      </Button>
    </Line>
  );
}

const MOST_PATHS = 10;

const Paths = ({ paths }: { paths: readonly string[] }) => (
  <>
    {paths.slice(0, MOST_PATHS).map((path, i) => (
      <span key={path} className="font-mono text-mono">
        {i > 0 && ', '}
        <Plain text={path} />
      </span>
    ))}
    {paths.length > MOST_PATHS && ` and ${plural(paths.length - MOST_PATHS, 'more path')}`}
  </>
);

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
