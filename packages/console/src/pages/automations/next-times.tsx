import { Time } from '../../ui/values.tsx';
import { timeIn } from './words.ts';

/** The next times of a schedule, in its own time zone. */
export function NextTimes({ times, timeZone }: { times: readonly string[]; timeZone: string }) {
  return (
    <ol aria-label="Next times" className="tabular-nums">
      {times.map((at) => (
        <li key={at} className="flex gap-3">
          <span className="w-40">{timeIn(timeZone, at)}</span>
          <span className="text-ink-3">
            <Time at={at} />
          </span>
        </li>
      ))}
    </ol>
  );
}
