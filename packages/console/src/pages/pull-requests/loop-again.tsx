/** Starts a loop again that is blocked or in error, beside the way to what stopped it. */
import type { UpdateReviewLoopInput } from '@headrace/client';
import { client } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { PullAsCode, usePull, usePullOff, usePullWrite } from './context.tsx';
import { RefusalLine } from './refusal-line.tsx';
import { RemedyLink } from './remedy.tsx';
import type { Standing } from './standing.ts';

const ON: UpdateReviewLoopInput = { enabled: true };

export function LoopAgain({ standing }: { standing: Standing }) {
  const { appId, threadId, pull } = usePull();
  const off = usePullOff();
  const patch = usePullWrite('loop again', (ids, body: UpdateReviewLoopInput, options) =>
    client.pullRequests.updateReviewLoop(...ids, body, options),
  );
  const status = pull.reviewLoop?.status;
  if (status !== 'blocked' && status !== 'error') return null;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        {standing.remedy !== 'panel' && <RemedyLink standing={standing} pull={pull} appId={appId} />}
        <span className="flex items-center">
          <Button offBecause={off} isPending={patch.isSending} onPress={() => patch.send(ON)}>
            Start the loop again
          </Button>
          <PullAsCode
            method="PATCH"
            rest="/review-loop"
            name="updateReviewLoop"
            body={ON}
            cli={`loop on ${pull.number}`}
          />
        </span>
      </div>
      <RefusalLine fault={patch.fault} appId={appId} threadId={threadId} />
    </>
  );
}
