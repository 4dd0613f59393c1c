/** The events after one, by curl, the client and the command line. */
import { AsCode } from '../../ui/as-code.tsx';
import type { Shown } from './event-log.ts';
import { commandOf, pathOf, queryOf } from './replay.ts';

/** With the filters that the cursor belongs to. */
export function ReplayAsCode({ shown: { event, feed } }: { shown: Shown }) {
  const { cursor } = event;
  const query = new URLSearchParams({ ...queryOf(feed), cursor });
  return (
    <AsCode
      method="GET"
      path={`${pathOf(feed)}?${query.toString()}`}
      ts={`for await (const event of client.events.replay(${JSON.stringify(feed)}, { cursor: '${cursor}' }))\n  console.log(event.type, event.data);`}
      cli={commandOf(feed, cursor)}
    />
  );
}
