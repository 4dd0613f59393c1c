/** A question of an agent in the inbox: what is asked, and the answer to it. */
import type { Approval } from '@headrace/client';
import { client } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';
import { AskedInput, useAsked } from '../thread/asked.tsx';

interface Body {
  decision: 'approve' | 'deny';
  remember?: boolean;
}

export function Question({ approval, appId }: { approval: Approval; appId: string }) {
  const offline = useOffReason();
  const mayAnswer = useMay('thread:update');
  const asked = useAsked(appId, approval);
  const { threadId, id } = approval;
  const answer = useWrite({
    intent: `answer ${id}`,
    call: (body: Body, options) => client.approvals.answer(appId, threadId, id, body, options),
    onDone: (_, { decision }) => notify(decision === 'approve' ? 'Approved' : 'Denied'),
  });
  const props = {
    isPending: answer.isSending,
    offBecause: mayAnswer ? offline : 'Your role may not answer.',
  };
  const isSeen = asked.tool !== undefined;
  return (
    <>
      <AskedInput approval={approval} asked={asked} />
      <FaultLine fault={answer.fault} />
      <div className="flex flex-wrap items-center gap-2">
        {isSeen && (
          <>
            <Button {...props} kind="primary" data-row onPress={() => answer.send({ decision: 'approve' })}>
              Approve
            </Button>
            <Button {...props} onPress={() => answer.send({ decision: 'approve', remember: true })}>
              Always
            </Button>
            <Button {...props} kind="danger" onPress={() => answer.send({ decision: 'deny' })}>
              Deny
            </Button>
          </>
        )}
        <ButtonLink
          kind={isSeen ? 'quiet' : 'primary'}
          data-row={!isSeen}
          to="/apps/$appId/threads/$threadId"
          params={{ appId, threadId }}
        >
          Open
        </ButtonLink>
      </div>
    </>
  );
}
