/** Stop and retry. */
import { client } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { notify } from '../../ui/notices.tsx';
import { callOf, pathOf, useThread } from './context.ts';
import { useEffect } from 'react';
import { lineOf } from '../../api/faults.ts';
import type { Fault } from '../../api/faults.ts';

/** A refused click is answered where the eye is not: as a notice. */
export function useFaultNotice(fault: Fault | null): void {
  useEffect(() => {
    if (fault) notify(lineOf(fault), 'fail');
  }, [fault]);
}

export function StopButton() {
  const place = useThread();
  const { appId, threadId, thread } = place;
  const offBecause = useOffReason();
  const mayStop = useMay('thread:stop');
  const stop = useWrite({
    intent: `stop ${threadId} ${thread.latestRunId}`,
    call: (_: null, options) => client.runs.stop(appId, threadId, options),
  });
  useFaultNotice(stop.fault);
  const isStopping = stop.isSending || thread.stopRequestedAt !== null;
  return (
    <>
      <Button
        kind="danger"
        onPress={() => stop.send(null)}
        offBecause={
          mayStop ? (isStopping ? 'The run is being stopped.' : offBecause) : 'Your role may not stop runs.'
        }
      >
        Stop
      </Button>
      <AsCode
        method="POST"
        path={pathOf(place, '/stop')}
        ts={callOf('runs.stop', place)}
        cli={`headrace stop ${threadId}`}
      />
    </>
  );
}

/** Repeats the last message of a user. */
export function RetryButton() {
  const place = useThread();
  const { appId, threadId, thread } = place;
  const offBecause = useOffReason();
  const mayRetry = useMay('thread:retry');
  const retry = useWrite({
    intent: `retry ${threadId} ${thread.latestRunId}`,
    call: (_: null, options) => client.runs.retry(appId, threadId, options),
    onDone: () => notify('The last message is repeated.'),
  });
  useFaultNotice(retry.fault);
  return (
    <span className="inline-flex items-center">
      <Button
        onPress={() => retry.send(null)}
        isDisabled={retry.isSending}
        offBecause={mayRetry ? offBecause : 'Your role may not repeat runs.'}
      >
        Try again
      </Button>
      <AsCode
        method="POST"
        path={pathOf(place, '/retry')}
        ts={callOf('runs.retry', place)}
        cli={`headrace retry ${threadId}`}
      />
    </span>
  );
}
