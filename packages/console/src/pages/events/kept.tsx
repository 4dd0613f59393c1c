import { useQuery } from '@tanstack/react-query';
import { systemQuery } from '../../api/running-queries.ts';
import { useIsOperator } from '../../api/session.ts';
import { plural } from '../../ui/values.tsx';

const DAY_SECONDS = 86_400;
/** Of the service, where its operator sets nothing else. */
const DEFAULT_SECONDS = 7 * DAY_SECONDS;

const inWords = (seconds: number): string =>
  seconds % DAY_SECONDS === 0
    ? plural(seconds / DAY_SECONDS, 'day')
    : seconds % 3600 === 0
      ? plural(seconds / 3600, 'hour')
      : plural(seconds, 'second');

/** For how long events are kept. Only operators may read the setting. */
export function Kept() {
  const isOperator = useIsOperator();
  const { data } = useQuery({
    ...systemQuery,
    enabled: isOperator,
    refetchInterval: false,
    refetchOnWindowFocus: false,
  });
  const setting = data?.system.config.find(({ name }) => name === 'HEADRACE_EVENT_RETENTION_SECONDS');
  if (!isOperator)
    return 'Events are kept for seven days, unless the operator of the service has set another time.';
  return `Events are kept for ${inWords(Number(setting?.value ?? DEFAULT_SECONDS))}.`;
}
