/** The threads of an app, as names beside what was made in them and as a choice. */
import type { Thread } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { itemsOf, threadsQuery } from '../../api/queries.ts';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { Id } from '../../ui/values.tsx';
import { NO_THREAD } from './command.ts';

/** The titles of the threads that are read; null for others. Without a thread: the app. */
export function useThreadTitles(appId: string): (threadId: string | null) => string | null {
  const { data } = useInfiniteQuery(threadsQuery(appId));
  const titles = new Map(itemsOf(data).map(({ id, title }) => [id, title ?? 'Untitled thread']));
  return (threadId) => (threadId === null ? 'the app' : (titles.get(threadId) ?? null));
}

export function ThreadLink({ appId, threadId }: { appId: string; threadId: string }): ReactNode {
  const title = useThreadTitles(appId)(threadId);
  return (
    <Link to="/apps/$appId/threads/$threadId" params={{ appId, threadId }} className="link long">
      {title === null ? <Id value={threadId} copy={false} /> : <Plain text={title} />}
    </Link>
  );
}

/** The app's newest thread that takes work and has a source: null if there is none among those that are read. */
export function useNewestThread(appId: string, isNeeded: boolean): { isPending: boolean; id: string | null } {
  const { data, isPending } = useInfiniteQuery({ ...threadsQuery(appId), enabled: isNeeded });
  const newest = isNeeded ? itemsOf(data).find(isReady) : undefined;
  return { isPending: isNeeded && isPending, id: newest?.id ?? null };
}

const isReady = ({ status, latestSourceId }: Thread) => status !== 'archived' && latestSourceId !== null;

/** Which thread it is for, if any. Archived ones take no work. */
export function ThreadSelect(props: {
  appId: string;
  value: string | null;
  onChange: (threadId: string) => void;
}): ReactNode {
  const threads = useInfiniteQuery(threadsQuery(props.appId));
  const open = itemsOf(threads.data).filter(({ status }) => status !== 'archived');
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Select
        label="Thread"
        choices={[
          ...open.map(({ id, title }) => ({ id, text: title ?? 'Untitled thread' })),
          { id: NO_THREAD, text: 'No thread: the app’s head' },
        ]}
        value={props.value}
        onChange={props.onChange}
      />
      {threads.hasNextPage && (
        <Button kind="quiet" onPress={() => void threads.fetchNextPage()}>
          More threads
        </Button>
      )}
    </div>
  );
}
