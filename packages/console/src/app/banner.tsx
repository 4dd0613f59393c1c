/** A line below the header while what is shown may be old. */
import { useState } from 'react';
import { useLive, useLiveStatus } from '../live/index.ts';
import { Button } from '../ui/button.tsx';
import { Time } from '../ui/values.tsx';

/** The moment of a gap is computed anew, and differs a little. */
const SAME_MS = 1_000;

export function Banner() {
  const live = useLive();
  const { state, dataAt, gapAt } = useLiveStatus();
  const [dismissedAt, setDismissedAt] = useState(0);
  return (
    <div role="status">
      {state === 'offline' && (
        <Line tone="bg-wait-wash">
          <span>
            Offline. This is from {dataAt === null ? 'before' : <Time at={dataAt} />}; changes are off until
            the connection is back, and what you type is kept.
          </span>
          <Button onPress={() => live?.check()}>Try now</Button>
        </Line>
      )}
      {gapAt !== null && gapAt - dismissedAt > SAME_MS && state !== 'offline' && (
        <Line tone="bg-sunk">
          <span>Some events were missed. Everything shown was read again.</span>
          <Button onPress={() => setDismissedAt(gapAt)}>Dismiss</Button>
        </Line>
      )}
    </div>
  );
}

const Line = ({ tone, children }: { tone: string; children: React.ReactNode }) => (
  <div className={`flex flex-wrap items-center gap-3 border-b border-line px-4 py-1 ${tone}`}>{children}</div>
);
