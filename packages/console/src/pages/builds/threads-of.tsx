/** The threads of an app, as names beside what was made in them and as a choice. */
import type { Thread } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAppWord } from '../../api/app-word.ts';
import { threadsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { Id } from '../../ui/values.tsx';
import { NO_THREAD } from './command.ts';

/** The titles of the threads that are read; null for others. Without a thread: the app. */
export function useThreadTitles(appId: string): (threadId: string | null) => string | null {
  const word = useAppWord();
  const { data } = useInfiniteQuery(threadsQuery(appId));
  const titles = new Map(itemsOf(data).map(({ id, title }) => [id, title ?? 'Untitled thread']));
  return (threadId) => (threadId === null ? `the ${word}` : (titles.get(threadId) ?? null));
}

export function ThreadLink({ appId, threadId }: { appId: string; threadId: string }): ReactNode {
  const title = useThreadTitles(appId)(threadId);
  return (
    <Link to="/apps/$appId/threads/$threadId" params={{ appId, threadId }} className="link long">
      {title === null ? <Id value={threadId} copy={false} /> : <Plain text={title} />}
    </Link>
  );
}

/** Builds and previews are of final threads, too. */
const isAny = () => true;

/** The app's newest thread that takes work and has a source: null if there is none among those that are read. */
export function useNewestThread(
  appId: string,
  isNeeded: boolean,
  isOffered: (thread: Thread) => boolean = isAny,
): { isPending: boolean; id: string | null } {
  const { data, isPending } = useInfiniteQuery({ ...threadsQuery(appId), enabled: isNeeded });
  const newest = isNeeded ? itemsOf(data).find((thread) => isReady(thread) && isOffered(thread)) : undefined;
  return { isPending: isNeeded && isPending, id: newest?.id ?? null };
}

const isReady = ({ status, latestSourceId }: Thread) => status !== 'archived' && latestSourceId !== null;

/** Which thread it is for; where that is optional, also none. Archived ones take no work. */
export function ThreadSelect(props: {
  appId: string;
  value: string | null;
  onChange: (threadId: string) => void;
  isOptional?: boolean;
  /** Which of them can be chosen. */
  isOffered?: (thread: Thread) => boolean;
}): ReactNode {
  const word = useAppWord();
  const threads = useInfiniteQuery(threadsQuery(props.appId));
  const { isOffered = isAny } = props;
  const open = itemsOf(threads.data).filter((thread) => thread.status !== 'archived' && isOffered(thread));
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Select
        label="Thread"
        choices={[
          ...open.map(({ id, title }) => ({ id, text: title ?? 'Untitled thread' })),
          ...(props.isOptional === false ? [] : [{ id: NO_THREAD, text: `No thread: the ${word}’s head` }]),
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
