/** What is read of a conversation: the newest page lives, older ones are read when they are scrolled to. */
import type { Message, Run } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { client, READ_TIMEOUT_MS } from '../../api/client.ts';
import { messagesQuery, runsQuery } from '../../api/queries.ts';
import { nothingHeld, withNewest, withOlder } from './held.ts';
import type { Held } from './held.ts';

const READ = { timeoutMs: READ_TIMEOUT_MS };
const OLDER_ITEMS = 100;

export interface Conversation {
  /** Oldest first; those that a fork inherited are before its own. */
  messages: Message[];
  runs: Run[];
  isReady: boolean;
  /** Why the newest messages are not there. */
  error: Error | null;
  retry: () => void;
  /** Whether the first message is there. */
  isWhole: boolean;
  isReadingOlder: boolean;
  olderError: Error | null;
  readOlder: () => void;
}

export function useConversation(appId: string, threadId: string): Conversation {
  const messages = useInfiniteQuery(messagesQuery(appId, threadId));
  const runs = useInfiniteQuery(runsQuery(appId, threadId));
  const [heldMessages, setMessages] = useHeld<Message>(messages.data?.pages[0]);
  const [heldRuns, setRuns] = useHeld<Run>(runs.data?.pages[0]);
  const [older, setOlder] = useState<{ isReading: boolean; error: Error | null }>({
    isReading: false,
    error: null,
  });
  const isReading = useRef(false);
  const readOlder = useCallback(() => {
    const cursor = heldMessages.older;
    if (isReading.current || cursor === null) return;
    isReading.current = true;
    setOlder({ isReading: true, error: null });
    const read = async () => {
      const page = await client.messages.list(appId, threadId, {
        ...READ,
        order: 'desc',
        inherited: true,
        limit: OLDER_ITEMS,
        cursor,
      });
      // Runs and messages appear together, so that no row grows while it is read.
      let held = heldRuns;
      while (held.older !== null && isMissing(page.items, held.items, threadId)) {
        const { older: from } = held;
        held = withOlder(
          held,
          from,
          await client.runs.list(appId, threadId, { ...READ, limit: OLDER_ITEMS, cursor: from }),
        );
      }
      setRuns((now) => (now.older === heldRuns.older ? mergedRuns(held, now) : now));
      setMessages((now) => withOlder(now, cursor, page));
    };
    read()
      .then(
        () => setOlder({ isReading: false, error: null }),
        (error: unknown) => setOlder({ isReading: false, error: error as Error }),
      )
      .finally(() => {
        isReading.current = false;
      });
  }, [appId, threadId, heldMessages, heldRuns, setMessages, setRuns]);
  return {
    messages: heldMessages.items,
    runs: heldRuns.items,
    // Runs that came later would push the messages apart.
    isReady: messages.data !== undefined && (runs.data !== undefined || runs.error !== null),
    error: messages.data ? null : messages.error,
    retry: () => void messages.refetch(),
    isWhole: heldMessages.older === null,
    isReadingOlder: older.isReading,
    olderError: older.error,
    readOlder,
  };
}

/** Whether the run of one of the thread's own messages is not among these. */
function isMissing(messages: Message[], runs: Run[], threadId: string): boolean {
  const known = new Set(runs.map(({ id }) => id));
  return messages.some((one) => one.threadId === threadId && one.runId !== null && !known.has(one.runId));
}

/** What came while older runs were read stays. */
const mergedRuns = (withMore: Held<Run>, now: Held<Run>): Held<Run> => {
  const known = new Set(now.items.map(({ id }) => id));
  return {
    ...now,
    items: [...withMore.items.filter(({ id }) => !known.has(id)), ...now.items],
    older: withMore.older,
  };
};

type Newest<T extends { id: string; createdAt: string }> = Parameters<typeof withNewest<T>>[1];

function useHeld<T extends { id: string; createdAt: string }>(page: Newest<T>) {
  const [held, setHeld] = useState(nothingHeld<T>);
  const next = withNewest(held, page);
  if (next !== held) setHeld(next);
  return [next, setHeld] as const;
}
