/** A question of the agent. */
import type { Approval } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Plain } from '../../code/plain.tsx';
import { client } from '../../api/client.ts';
import { itemsOf, toolsQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/fields.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { callOf, pathOf, useThread } from './context.ts';
import { Output } from './output.tsx';
import { inputOf } from './tool-input.ts';

type Decision = 'approve' | 'deny';

/** One question, its command in full, and the answer to it. */
export function Waiting({ approval }: { approval: Approval }) {
  const place = useThread();
  const { appId, threadId } = place;
  const [remember, setRemember] = useState(false);
  const offline = useOffReason();
  const mayAnswer = useMay('thread:update');
  const answer = useWrite({
    intent: `answer ${approval.id}`,
    call: (decision: Decision, options) =>
      client.approvals.answer(appId, threadId, approval.id, { decision, remember }, options),
  });
  const offBecause = mayAnswer ? offline : 'Your role may not answer.';
  const body = { decision: 'approve', remember };
  return (
    <div className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3">
        <Status status="waiting" word="Waits for you" />
        <span className="text-ink-2">May the agent do this?</span>
        <span className="text-12 text-ink-2 sm:ml-auto">
          denied <Time at={approval.expiresAt} /> without an answer
        </span>
      </div>
      <Asked approval={approval} />
      <div className="flex flex-wrap items-center gap-2">
        <Button
          kind="primary"
          onPress={() => answer.send('approve')}
          isDisabled={answer.isSending}
          offBecause={offBecause}
        >
          Approve
        </Button>
        <Button onPress={() => answer.send('deny')} isDisabled={answer.isSending} offBecause={offBecause}>
          Deny
        </Button>
        <Checkbox isSelected={remember} onChange={setRemember}>
          The same for this command in this thread
        </Checkbox>
        <AsCode
          method="POST"
          path={pathOf(place, `/approvals/${approval.id}`)}
          body={body}
          ts={callOf('approvals.answer', place, approval.id, body)}
          cli={`headrace approve ${approval.id}`}
        />
      </div>
      {answer.fault && (
        <p role="alert" className="text-fail">
          {answer.fault.title}. {answer.fault.message}
        </p>
      )}
    </div>
  );
}

/** The whole command, not only its title. */
function Asked({ approval }: { approval: Approval }) {
  const { appId, threadId } = useThread();
  const query = useInfiniteQuery(toolsQuery(appId, threadId, approval.runId));
  const tool = itemsOf(query.data).find(({ id }) => id === approval.toolId);
  const { command, json } = inputOf(tool?.input);
  return (
    <>
      <p className="long">
        {tool && (
          <span className="mr-2 font-mono text-mono text-ink-3">
            <Plain text={tool.name} />
          </span>
        )}
        {command === null && (
          <span className="font-bold">
            <Plain text={approval.title} />
          </span>
        )}
      </p>
      {command !== null && <Output text={`$ ${command}`} label="Command" />}
      {json !== null && <Output text={json} label="Input" />}
    </>
  );
}
