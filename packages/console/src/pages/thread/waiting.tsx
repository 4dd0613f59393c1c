/** A question of the agent. */
import type { Approval } from '@headrace/client';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Checkbox } from '../../ui/fields.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { AskedInput, useAsked } from './asked.tsx';
import { callOf, pathOf, useThread } from './context.ts';

interface Body {
  decision: 'approve' | 'deny';
  remember: boolean;
}

/** One question, its command in full, and the answer to it. */
export function Waiting({ approval }: { approval: Approval }) {
  const place = useThread();
  const { appId, threadId } = place;
  const [remember, setRemember] = useState(false);
  const offline = useOffReason();
  const mayAnswer = useMay('thread:update');
  const answer = useWrite({
    intent: `answer ${approval.id}`,
    call: (body: Body, options) => client.approvals.answer(appId, threadId, approval.id, body, options),
  });
  const offBecause = mayAnswer ? offline : 'Your role may not answer.';
  const asked = useAsked(appId, approval);
  const approve: Body = { decision: 'approve', remember };
  return (
    <div className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3">
        <Status status="waiting" word="Waits for you" />
        <span className="text-ink-2">May the agent do this?</span>
        <span className="text-12 text-ink-2 sm:ml-auto">
          Denied <Time at={approval.expiresAt} /> if nobody answers
        </span>
      </div>
      <AskedInput approval={approval} asked={asked} />
      <div className="flex flex-wrap items-center gap-2">
        <Button
          kind="primary"
          onPress={() => answer.send(approve)}
          isDisabled={answer.isSending}
          offBecause={offBecause ?? (asked.tool ? null : 'It is not shown yet what is asked.')}
        >
          Approve
        </Button>
        <Button
          onPress={() => answer.send({ decision: 'deny', remember })}
          isDisabled={answer.isSending}
          offBecause={offBecause}
        >
          Deny
        </Button>
        <Checkbox isSelected={remember} onChange={setRemember}>
          Remember for this command in this thread
        </Checkbox>
        <AsCode
          method="POST"
          path={pathOf(place, `/approvals/${approval.id}`)}
          body={approve}
          ts={callOf('approvals.answer', place, approval.id, approve)}
          cli={`headrace approve ${approval.id} -t ${threadId}`}
        />
      </div>
      <FaultLine fault={answer.fault} />
    </div>
  );
}
