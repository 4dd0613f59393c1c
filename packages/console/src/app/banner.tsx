/** A line below the header while what is shown may be old. */
import { useLive, useLiveStatus } from '../live/index.ts';
import { Button } from '../ui/button.tsx';
import { Time } from '../ui/values.tsx';

export function Banner() {
  const live = useLive();
  const { state, dataAt, gapAt } = useLiveStatus();
  return (
    <div role="status">
      {state === 'offline' && (
        <Line tone="bg-wait-wash">
          <span>
            Offline. This is from {dataAt === null ? 'before' : <Time at={dataAt} />}; changes wait, and what
            you type is kept.
          </span>
          <Button onPress={() => live?.check()}>Try now</Button>
        </Line>
      )}
      {gapAt !== null && state !== 'offline' && (
        <Line tone="bg-sunk">
          <span>Some history is older than seven days. Everything shown was read again.</span>
        </Line>
      )}
    </div>
  );
}

const Line = ({ tone, children }: { tone: string; children: React.ReactNode }) => (
  <div className={`flex flex-wrap items-center gap-3 border-b border-line px-4 py-1 ${tone}`}>{children}</div>
);
