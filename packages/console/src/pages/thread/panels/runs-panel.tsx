/** The thread's runs with their costs, and the checkpoints to go back to. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { checkpointsQuery, runsQuery } from '../../../api/queries.ts';
import { itemsOf } from '../../../api/query.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty, Shown } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Id, Time } from '../../../ui/values.tsx';
import { useThread } from '../context.ts';
import { RunNumbers, RunResult } from '../run-entry.tsx';
import { errorTitle, kindWord } from '../run-words.ts';

export function RunsPanel() {
  const { appId, threadId } = useThread();
  const runs = useInfiniteQuery(runsQuery(appId, threadId));
  const checkpoints = useInfiniteQuery(checkpointsQuery(appId, threadId));
  const ofRun = new Map(itemsOf(checkpoints.data).map((one) => [one.runId, one]));
  return (
    <Shown query={runs}>
      {(data) => {
        const items = itemsOf(data);
        if (items.length === 0)
          return (
            <Empty title="No run yet">
              <p>A message starts the first one.</p>
            </Empty>
          );
        return (
          <>
            <ul>
              {items.map((run) => (
                <li key={run.id} className="flex flex-col gap-0.5 border-b border-line px-4 py-2">
                  <div className="flex flex-wrap items-center gap-x-3">
                    <Status status={run.status} />
                    {kindWord(run.kind)}
                    <span className="text-12 text-ink-3">
                      <Time at={run.createdAt} />
                    </span>
                    <span className="ml-auto">
                      <Id value={run.id} />
                    </span>
                  </div>
                  <div className="flex flex-wrap items-center gap-x-3 text-12 text-ink-3">
                    <RunNumbers run={run} />
                    <RunResult run={run} checkpoint={ofRun.get(run.id) ?? null} />
                    {run.error && <span className="text-fail">{errorTitle(run.error.code)}</span>}
                  </div>
                </li>
              ))}
            </ul>
            {runs.hasNextPage && (
              <div className="px-4 py-3">
                <Button
                  isDisabled={runs.isFetchingNextPage}
                  onPress={() => {
                    void runs.fetchNextPage();
                    if (checkpoints.hasNextPage) void checkpoints.fetchNextPage();
                  }}
                >
                  Show more
                </Button>
              </div>
            )}
          </>
        );
      }}
    </Shown>
  );
}
