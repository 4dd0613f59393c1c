/** One execution, with its payload, beside the list. */
import type { ExecutionDetail } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useRef } from 'react';
import { threadQuery } from '../../api/queries.ts';
import { executionQuery } from '../../api/work-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { IconButton } from '../../ui/button.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Fact, Facts, Section } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { CopyButton, Id, Time, Took } from '../../ui/values.tsx';
import { PullRequestLink } from '../tasks/thread-row.tsx';
import { lookOf, skippedWords, startedBy } from './words.ts';

export function ExecutionPanel({
  automationId,
  executionId,
  onClose,
}: {
  automationId: string;
  executionId: string;
  onClose: () => void;
}) {
  const execution = useQuery(executionQuery(automationId, executionId));
  const panel = useRef<HTMLDivElement>(null);
  const close = () => {
    // What has the focus goes with the panel: it goes back to the row, or where that is not shown, to the page.
    if (panel.current?.contains(document.activeElement)) {
      const row = document.querySelector<HTMLElement>(`[data-execution="${CSS.escape(executionId)}"]`);
      (row ?? document.querySelector('main'))?.focus();
    }
    onClose();
  };
  // A dialog over the page has the key for itself.
  const byKey = () => document.querySelector('[role=dialog]') === null && close();
  useKeys([{ keys: 'Escape', does: 'Close the execution', run: byKey }]);
  return (
    <div ref={panel}>
      <Section
        title="Execution"
        actions={
          <IconButton label="Close the execution" onPress={close}>
            <X size={14} />
          </IconButton>
        }
      >
        <Shown query={execution}>
          {(shown) => (
            <>
              <About execution={shown} />
              <Payload payload={shown.payload} />
            </>
          )}
        </Shown>
      </Section>
    </div>
  );
}

function About({ execution }: { execution: ExecutionDetail }) {
  const { id, projectId: appId, status, skippedReason, error, trigger, threadId, runId } = execution;
  const { scheduledFor, eventId, deliveryId } = trigger;
  return (
    <Facts>
      <Fact name="Status">
        <Status {...lookOf(status)} />
      </Fact>
      {skippedReason !== null && <Fact name="Skipped">{<Plain text={skippedWords(skippedReason)} />}</Fact>}
      {error && (
        <Fact name="Error">
          <span className="long text-fail">
            <Plain text={error.message} /> <code className="font-mono text-mono">{error.code}</code>
          </span>
        </Fact>
      )}
      <Fact name="Started">{startedBy(trigger)}</Fact>
      {scheduledFor !== null && (
        <Fact name="Was due">
          <Time at={scheduledFor} />
        </Fact>
      )}
      {eventId !== null && (
        <Fact name="Event">
          <Id value={eventId} />
        </Fact>
      )}
      {deliveryId !== null && (
        <Fact name="Delivery">
          <code className="long font-mono text-mono">
            <Plain text={deliveryId} />
          </code>
        </Fact>
      )}
      {threadId !== null && (
        <Fact name="Thread">
          <Link to="/apps/$appId/threads/$threadId" params={{ appId, threadId }} className="link">
            Open the thread
          </Link>
          <Id value={threadId} />
        </Fact>
      )}
      {threadId !== null && runId !== null && (
        <Fact name="Run">
          <Link
            to="/apps/$appId/threads/$threadId"
            params={{ appId, threadId }}
            search={{ panel: 'runs' }}
            className="link"
          >
            Open the run
          </Link>
          <Id value={runId} />
        </Fact>
      )}
      {execution.pullRequestId !== null && threadId !== null && (
        <Fact name="Pull request">
          <PullRequestOf appId={appId} threadId={threadId} pullRequestId={execution.pullRequestId} />
        </Fact>
      )}
      <Fact name="Created">
        <Time at={execution.createdAt} />
      </Fact>
      <Fact name="Took">
        <Took from={execution.startedAt} to={execution.finishedAt} />
      </Fact>
      <Fact name="Id">
        <Id value={id} />
      </Fact>
    </Facts>
  );
}

/** Its number and address are the thread's. */
function PullRequestOf(of: { appId: string; threadId: string; pullRequestId: string }) {
  const thread = useQuery(threadQuery(of.appId, of.threadId));
  const pullRequest = thread.data?.pullRequests.find(({ id }) => id === of.pullRequestId);
  return pullRequest ? <PullRequestLink pullRequest={pullRequest} /> : <Id value={of.pullRequestId} />;
}

function Payload({ payload }: { payload: Record<string, unknown> | null }) {
  if (payload === null) return <p className="px-4 pb-3 text-ink-3">It has no payload.</p>;
  const text = JSON.stringify(payload, null, 2);
  return (
    <div className="px-4 pb-3">
      <div className="flex items-center justify-between">
        <span className="label">Payload, as the sender wrote it</span>
        <CopyButton text={text} label="Copy the payload" />
      </div>
      <pre
        tabIndex={0}
        aria-label="Payload"
        className="max-h-96 overflow-auto rounded bg-sunk p-2 font-mono text-mono whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        <Plain text={text} />
      </pre>
    </div>
  );
}
