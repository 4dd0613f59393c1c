/** The pull request that a panel shows, for all of its parts, and how they write. */
import type { Page, PullRequest, PullRequestSummary, WriteOptions } from '@headrace/client';
import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { useMay } from '../../api/session.ts';
import { pullRequestQuery, pullRequestsQuery } from '../../api/reviews-queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import type { Write } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import type { AsCodeProps } from '../../ui/as-code.tsx';

export interface PullPlace {
  appId: string;
  threadId: string;
  pull: PullRequest;
}

export const PullContext = createContext<PullPlace | null>(null);

export function usePull(): PullPlace {
  const place = useContext(PullContext);
  if (!place) throw new Error('No pull request is shown.');
  return place;
}

type Call<I> = (
  ids: [threadId: string, pullRequestId: string],
  input: I,
  options: WriteOptions,
) => PromiseLike<PullRequest>;

/** A write to the pull request. Its answer is shown at once. */
export function usePullWrite<I>(
  intent: string,
  call: Call<I>,
  onDone?: (changed: PullRequest) => void,
): Write<I, PullRequest> {
  const { appId, threadId, pull } = usePull();
  const queries = useQueryClient();
  return useWrite({
    intent: `${intent} ${pull.id}`,
    call: (input: I, options) => call([threadId, pull.id], input, options),
    onDone: (changed) => {
      keepPull(queries, appId, changed);
      onDone?.(changed);
    },
  });
}

/** Puts an answer into what is cached, unless something newer is there. */
export function keepPull(queries: QueryClient, appId: string, changed: PullRequest): void {
  const { id, threadId, version } = changed;
  queries.setQueryData(pullRequestQuery(appId, threadId, id).queryKey, (now: PullRequest | undefined) =>
    now && now.version > version ? now : changed,
  );
  queries.setQueryData(
    pullRequestsQuery(appId, threadId).queryKey,
    (now: Pages | undefined) => now && withPull(now, changed),
  );
}

type Pages = InfiniteData<Page<PullRequestSummary>>;

/** A new one is the newest. */
function withPull(data: Pages, changed: PullRequest): Pages {
  const isThere = data.pages.some(({ items }) => items.some(({ id }) => id === changed.id));
  const replaced = (one: PullRequestSummary) =>
    one.id === changed.id && one.version <= changed.version ? changed : one;
  return {
    ...data,
    pages: data.pages.map((page, at) => {
      const items = page.items.map(replaced);
      return { ...page, items: at === 0 && !isThere ? [changed, ...items] : items };
    }),
  };
}

/** Why nothing can be changed here; null where it can. */
export function usePullOff(): string | null {
  const off = useOffReason();
  const may = useMay('thread:update');
  return may ? off : 'Your role may not change threads.';
}

/** A write to the pull request as code. `cli`: what follows `headrace pr`. */
export function PullAsCode({
  method = 'POST',
  rest = '',
  name,
  body,
  cli,
}: {
  method?: AsCodeProps['method'];
  /** After the pull request's own path. */
  rest?: string;
  /** Of the client's method. */
  name: string;
  body?: unknown;
  /** Null where no command does just this. */
  cli: string | null;
}) {
  const { threadId, pull } = usePull();
  const args = [threadId, pull.id, ...(body === undefined ? [] : [body])];
  return (
    <AsCode
      method={method}
      path={`/api/threads/${threadId}/pull-requests/${pull.id}${rest}`}
      body={body}
      ts={() => `client.pullRequests.${name}(${args.map((one) => JSON.stringify(one, null, 2)).join(', ')})`}
      cli={cli === null ? null : `headrace pr ${cli} --thread ${threadId}`}
    />
  );
}
