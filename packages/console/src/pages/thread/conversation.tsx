/** The conversation: opens at its end, stays there while the reader is there, and never jumps. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useLive } from '../../live/index.ts';
import { checkpointsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Failure, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { useThread } from './context.ts';
import { entriesOf, inheritedEntries, isActive } from './entries.ts';
import type { Entry, Growing } from './entries.ts';
import { DraftEntry, MessageEntry, Row } from './entry.tsx';
import { ForkHere } from './fork-here.tsx';
import { InheritedEntry } from './inherited-entry.tsx';
import { Restore } from './restore.tsx';
import { RunEntry } from './run-entry.tsx';
import type { Conversation as Read } from './use-conversation.ts';

/** Nearer to the end than this, the reader is at the end. */
const NEAR_END = 48;
/** What is older is read before the reader comes to the first row. */
const READ_AHEAD = 12;

export function Conversation({ read }: { read: Read }) {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const entries = useEntries(read, unfolded);
  if (read.error || !read.isReady)
    return (
      <div className="min-h-0 flex-1 overflow-hidden">
        {read.error ? <Failure error={read.error} retry={read.retry} /> : <Skeleton lines={8} height={56} />}
      </div>
    );
  if (entries.length === 0)
    return (
      <div className="flex-1">
        <Empty title="No message yet">
          <p>Say below what the agent is to do. It works on the files that the thread started from.</p>
        </Empty>
      </div>
    );
  const unfold = (threadId: string, isOpen: boolean) => {
    const next = new Set(unfolded);
    if (isOpen) next.add(threadId);
    else next.delete(threadId);
    setUnfolded(next);
  };
  return <Rows entries={entries} read={read} onUnfold={unfold} />;
}

type Unfold = (threadId: string, isOpen: boolean) => void;

function Rows({ entries, read, onUnfold }: { entries: Entry[]; read: Read; onUnfold: Unfold }) {
  const { threadId } = useThread();
  const scroller = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const [opened, open] = useOpened(entries);
  // oxlint-disable-next-line react/incompatible-library -- its rows are no memoized components' props
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => estimate(entries[at]!),
    getItemKey: (at) => entries[at]!.id,
    overscan: 6,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
    paddingEnd: 16,
    onChange: (one) => setAtEnd(one.isAtEnd()),
  });
  const wasAtEnd = useRef(true);
  // Also when what is new stands above the last row, or the last row has grown a lot.
  useLayoutEffect(() => {
    if (wasAtEnd.current) virtual.scrollToEnd();
  }, [virtual, entries]);
  const { readOlder, isWhole, olderError } = read;
  const rows = virtual.getVirtualItems();
  const first = rows[0]?.index ?? 0;
  // Before the first scroll to the end, the first row is shown, too: nobody has asked for what is above it.
  const isWanted = !isAtEnd || virtual.getTotalSize() <= (scroller.current?.clientHeight ?? 0);
  // What is folded is not read on.
  const [top] = entries;
  const isFolded = top?.kind === 'inherited' && !top.isOpen;
  useEffect(() => {
    if (isWanted && first < READ_AHEAD && !isWhole && !isFolded && !olderError) readOlder();
  }, [isWanted, first, isWhole, isFolded, olderError, readOlder]);
  const hasNew = useHasNew(entries.at(-1)?.id, isAtEnd);
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        role="feed"
        aria-label="Conversation"
        aria-busy={read.isReadingOlder}
        tabIndex={0}
        onScroll={() => {
          wasAtEnd.current = virtual.isAtEnd();
        }}
        className="absolute inset-0 overflow-y-auto outline-offset-[-2px] [overflow-anchor:none]"
      >
        <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {rows.map(({ index, key, start }) => (
            <article
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              aria-posinset={index + 1}
              aria-setsize={isWhole ? entries.length : -1}
              className={`absolute top-0 left-0 w-full border-b border-line ${isInherited(entries[index]!, threadId) ? 'border-l-2 border-l-strong' : ''}`}
              style={{ transform: `translateY(${start}px)` }}
            >
              <EntryRow entry={entries[index]!} opened={opened} onOpen={open} onUnfold={onUnfold} />
            </article>
          ))}
        </div>
      </div>
      {(read.isReadingOlder || olderError) && (
        <div className="popover absolute top-2 left-1/2 flex -translate-x-1/2 items-center gap-2 px-3 py-1 text-12">
          {olderError ? (
            <>
              Older messages were not read. <Button onPress={readOlder}>Try again</Button>
            </>
          ) : (
            'Reading older messages'
          )}
        </div>
      )}
      {!isAtEnd && (
        <div className="absolute right-4 bottom-2">
          <Button kind={hasNew ? 'primary' : 'plain'} onPress={() => virtual.scrollToEnd()}>
            <ArrowDown size={14} aria-hidden />
            {hasNew ? 'New messages' : 'To the end'}
          </Button>
        </div>
      )}
    </div>
  );
}

const isInherited = (entry: Entry, threadId: string) =>
  entry.kind === 'message' && entry.message.threadId !== threadId;

function EntryRow({
  entry,
  opened,
  onOpen,
  onUnfold,
}: {
  entry: Entry;
  opened: ReadonlyMap<string, boolean>;
  onOpen: (id: string, isOpen: boolean) => void;
  onUnfold: Unfold;
}) {
  if (entry.kind === 'message') return <MessageEntry message={entry.message} />;
  if (entry.kind === 'draft') return <DraftEntry />;
  if (entry.kind === 'inherited') return <InheritedEntry line={entry} onUnfold={onUnfold} />;
  if (entry.kind === 'run')
    return (
      <RunEntry
        run={entry.run}
        checkpoint={entry.checkpoint}
        isOpen={opened.get(entry.id) ?? isActive(entry.run)}
        onOpen={onOpen}
      />
    );
  return (
    <Row side={<span className="md:leading-7">Source</span>}>
      <div className="flex flex-wrap items-center gap-x-3 text-12 text-ink-3 md:min-h-7">
        <Status
          status="ready"
          word={entry.checkpoint.kind === 'edit' ? 'files changed by hand' : 'kept what a run had changed'}
        />
        <Time at={entry.checkpoint.createdAt} />
        <Restore checkpoint={entry.checkpoint} />
        <ForkHere checkpointId={entry.checkpoint.id} />
      </div>
    </Row>
  );
}

function useEntries({ messages, runs, isWhole }: Read, unfolded: ReadonlySet<string>): Entry[] {
  const { appId, threadId } = useThread();
  const { data } = useInfiniteQuery(checkpointsQuery(appId, threadId));
  const draft = useGrowing(threadId);
  return useMemo(() => {
    const own = messages.filter((one) => one.threadId === threadId);
    const inherited = messages.filter((one) => one.threadId !== threadId);
    return [
      ...inheritedEntries(inherited, unfolded),
      // What was inherited is read after all that is the thread's own.
      ...entriesOf({
        messages: own,
        runs,
        checkpoints: itemsOf(data),
        draft,
        isWhole: isWhole || inherited.length > 0,
      }),
    ];
  }, [threadId, messages, runs, data, draft, isWhole, unfolded]);
}

/** Which reply grows: changes when one begins or ends, not with its text. */
function useGrowing(threadId: string): Growing | null {
  const live = useLive();
  const name = useSyncExternalStore(
    useCallback((listener: () => void) => live?.subscribe(listener) ?? (() => {}), [live]),
    () => {
      const draft = live?.draft(threadId);
      return draft ? `${draft.messageId} ${draft.runId}` : '';
    },
  );
  return useMemo(() => {
    const [messageId, runId] = name.split(' ');
    return messageId && runId ? { messageId, runId } : null;
  }, [name]);
}

/** Which runs are unfolded. One that was seen at work stays so when it has ended. */
function useOpened(entries: Entry[]) {
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  useEffect(() => {
    const active = entries.filter((one) => one.kind === 'run' && isActive(one.run) && !opened.has(one.id));
    if (active.length > 0) setOpened(new Map([...opened, ...active.map(({ id }) => [id, true] as const)]));
  }, [entries, opened]);
  const open = useCallback(
    (id: string, isOpen: boolean) => setOpened((now) => new Map(now).set(id, isOpen)),
    [],
  );
  return [opened, open] as const;
}

/** Whether something came at the end since the reader was there. */
function useHasNew(lastId: string | undefined, isAtEnd: boolean): boolean {
  const [seen, setSeen] = useState(lastId);
  if (isAtEnd && seen !== lastId) setSeen(lastId);
  return !isAtEnd && seen !== lastId;
}

const CHARACTERS = 95;

/** Near enough that little moves when the row is measured. */
function estimate(entry: Entry): number {
  if (entry.kind !== 'message') return entry.kind === 'draft' ? 120 : 53;
  const { content } = entry.message;
  const lines = Math.min(400, content.length / CHARACTERS + (content.slice(0, 4_000).split('\n').length - 1));
  return 45 + Math.ceil(lines) * 20;
}
