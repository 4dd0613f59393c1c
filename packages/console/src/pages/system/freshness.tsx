import { useNow, Time } from '../../ui/values.tsx';
import { Button } from '../../ui/button.tsx';
import { Status } from '../../ui/status.tsx';
import { SYSTEM_EVERY_MS } from '../../api/running-queries.ts';

/** Longer than some reads in a row take. */
const OLD_MS = 4 * SYSTEM_EVERY_MS;

/** How old what is shown is, and a mark where the service does not answer. */
export function Freshness({
  readAt,
  isFailing,
  retry,
}: {
  readAt: number;
  isFailing: boolean;
  retry: () => void;
}) {
  const isOld = useNow() - readAt > OLD_MS;
  return (
    <div className="flex min-h-7 flex-wrap items-center gap-x-3 gap-y-1 text-12 text-ink-3">
      <span role="status">
        {isFailing && <Status status="degraded" word="the service does not answer" />}
      </span>
      <span>
        {isFailing ? 'This is from' : 'Read'} <Time at={readAt} />
        {isFailing ? '' : `, ${isOld ? 'reading again' : `again every ${SYSTEM_EVERY_MS / 1000} s`}`}
      </span>
      {isFailing && <Button onPress={retry}>Try again</Button>}
    </div>
  );
}
