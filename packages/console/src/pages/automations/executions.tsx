/** The executions of an automation, newest first. */
import type { Automation, Execution } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { itemsOf } from '../../api/query.ts';
import { executionsQuery } from '../../api/work-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Section } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time, Took } from '../../ui/values.tsx';
import { StatusFilter } from '../builds/status-filter.tsx';
import { lookOf, skippedWords, startedBy } from './words.ts';

const route = getRouteApi('/signed-in/automations/$automationId');
const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled', 'skipped'] as const;

export function Executions({
  automation: { id: automationId, lastExecutionAt },
  onRun,
}: {
  automation: Automation;
  onRun: (() => void) | null;
}) {
  const { status, execution: open } = route.useSearch();
  const navigate = route.useNavigate();
  const executions = useInfiniteQuery(executionsQuery(automationId, status ? { status } : {}));
  return (
    <Section title="Executions">
      <StatusFilter
        label="Status"
        statuses={STATUSES}
        value={status}
        onChange={(next) =>
          void navigate({
            search: (now) => ({ ...now, status: next }),
            replace: true,
            resetScroll: false,
          })
        }
      />
      <Shown query={executions}>
        {(data) => {
          const items = itemsOf(data);
          if (items.length === 0)
            return status ? (
              <Empty title={`No execution is ${status}`}>
                <p>Executions with another status are not shown.</p>
              </Empty>
            ) : (
              <Empty title={lastExecutionAt === null ? 'It has not started yet' : 'No execution is kept'}>
                <p>
                  Each start is an execution: a thread with the prompt as its first message. They are kept for
                  90 days.{' '}
                  {lastExecutionAt !== null && (
                    <>
                      The last one was <Time at={lastExecutionAt} />.
                    </>
                  )}
                </p>
                {onRun && <Button onPress={onRun}>Run it now</Button>}
              </Empty>
            );
          return (
            <>
              <ul aria-label="Executions">
                {items.map((execution) => (
                  <Row key={execution.id} execution={execution} isOpen={execution.id === open} />
                ))}
              </ul>
              <ShowMore list={executions} />
            </>
          );
        }}
      </Shown>
    </Section>
  );
}

function Row({ execution, isOpen }: { execution: Execution; isOpen: boolean }) {
  const { id, automationId, projectId: appId, status, trigger, skippedReason, error, threadId } = execution;
  const search = route.useSearch();
  const why = error ? error.message : skippedReason === null ? null : skippedWords(skippedReason);
  return (
    <li className="row py-1" {...(isOpen && { 'data-selected': true })}>
      <Link
        data-row
        data-execution={id}
        to="/automations/$automationId"
        params={{ automationId }}
        search={{ ...search, execution: id }}
        resetScroll={false}
        aria-current={isOpen}
        className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3"
      >
        <span className="w-24 shrink-0">
          <Status {...lookOf(status)} />
        </span>
        <span className="min-w-0 flex-[1_1_180px]">
          <span className="long">{startedBy(trigger)}</span>
          {why !== null && (
            <span className={`long line-clamp-2 text-12 ${error ? 'text-fail' : 'text-ink-3'}`}>
              <Plain text={why} />
            </span>
          )}
        </span>
        <span className="text-12 text-ink-2 sm:w-20 sm:text-right">
          <Took from={execution.startedAt} to={execution.finishedAt} />
        </span>
        <span className="text-12 text-ink-3 sm:w-24 sm:text-right">
          <Time at={execution.createdAt} />
        </span>
      </Link>
      <span className="-my-1 flex w-18 shrink-0 justify-end">
        {threadId !== null && (
          <ButtonLink kind="quiet" to="/apps/$appId/threads/$threadId" params={{ appId, threadId }}>
            Thread
          </ButtonLink>
        )}
      </span>
    </li>
  );
}
