/** What the agent was asked without a user's message, newest first: the loop's messages in the thread, repairs, and their runs. */
import type { Message, Run } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { messagesQuery, runsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/plain.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { usePull } from './context.tsx';
import { passesOf } from './passes-of.ts';

/** As many as fit a panel. */
const MOST = 10;

export function Passes() {
  const { appId, threadId, pull } = usePull();
  // As the conversation reads them: nothing is asked a second time.
  const messages = useInfiniteQuery(messagesQuery(appId, threadId));
  const runs = useInfiniteQuery(runsQuery(appId, threadId));
  const passes = passesOf(itemsOf(messages.data), itemsOf(runs.data), pull.createdAt);
  if (passes.length === 0) return null;
  return (
    <section aria-label="Passes and repairs" className="border-t border-line">
      <h3 className="label px-4 pt-2">Passes and repairs, the newest first</h3>
      <ul>
        {passes.slice(0, MOST).map(({ run, message }) => (
          <li key={run.id}>
            <PassRow run={run} message={message} appId={appId} />
          </li>
        ))}
      </ul>
      {(passes.length > MOST || messages.hasNextPage || runs.hasNextPage) && (
        <p className="px-4 py-2 text-12 text-ink-3">Older ones are in the conversation.</p>
      )}
    </section>
  );
}

function PassRow({ run, message, appId }: { run: Run; message: Message | null; appId: string }) {
  return (
    <Link
      to="/apps/$appId/threads/$threadId"
      params={{ appId, threadId: run.threadId }}
      search={{ panel: 'runs' }}
      className="row gap-x-3"
    >
      <span className="w-24 shrink-0">
        <Status status={run.status} />
      </span>
      <span className="min-w-0 flex-1 truncate text-ink-2">
        {message ? <Plain text={firstLine(message.content)} /> : 'Repair of conflicts'}
      </span>
      <span className="shrink-0 text-12 text-ink-3">
        <Time at={run.createdAt} />
      </span>
    </Link>
  );
}

const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? '';
