/** Narrows a list of builds or previews to those of a thread, of none, or of a source; kept in the address. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useAppWord } from '../../api/app-word.ts';
import { threadsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { Id } from '../../ui/values.tsx';
import { NO_THREAD } from './command.ts';

export interface Narrowed {
  threadId?: string;
  sourceId?: string;
}

const ALL = 'all';

export function Narrow({
  appId,
  value,
  onChange,
}: {
  appId: string;
  value: Narrowed;
  onChange: (value: Narrowed) => void;
}) {
  const word = useAppWord();
  const threads = useInfiniteQuery(threadsQuery(appId));
  const { threadId, sourceId } = value;
  const listed = itemsOf(threads.data).map(({ id, title }) => ({ id, text: title ?? 'Untitled thread' }));
  const isListed =
    threadId === undefined || threadId === NO_THREAD || listed.some(({ id }) => id === threadId);
  const choices = [
    { id: ALL, text: 'All threads' },
    { id: NO_THREAD, text: `No thread: the ${word} itself` },
    ...listed,
    ...(isListed ? [] : [{ id: threadId, text: `Thread …${threadId.slice(-6)}` }]),
  ];
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-2">
      <div className="max-w-72 min-w-0">
        <Select
          quiet
          label="Of which thread"
          choices={choices}
          value={threadId ?? ALL}
          onChange={(id) => onChange({ ...(sourceId && { sourceId }), ...(id !== ALL && { threadId: id }) })}
        />
      </div>
      {threads.hasNextPage && (
        <Button kind="quiet" onPress={() => void threads.fetchNextPage()}>
          More threads
        </Button>
      )}
      {sourceId !== undefined && (
        <span className="flex items-center gap-2">
          Only of source <Id value={sourceId} copy={false} />
          <Button kind="quiet" onPress={() => onChange(threadId === undefined ? {} : { threadId })}>
            All sources
          </Button>
        </span>
      )}
    </div>
  );
}
