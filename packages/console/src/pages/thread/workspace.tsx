/** The thread's workspace: until when it is kept, and what has become of it. */
import type { ReportActivityInput, WorkspaceRecord } from '@headrace/client';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { workspaceHistoryQuery, workspacePolicyQuery } from '../../api/projects-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Fact, Facts } from '../../ui/page.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { callOf, pathOf, useThread } from './context.ts';

export function Workspace({ onClose }: { onClose: () => void }) {
  const { appId, threadId } = useThread();
  const policy = useQuery(workspacePolicyQuery(appId, threadId));
  const history = useInfiniteQuery(workspaceHistoryQuery(appId, threadId));
  return (
    <Dialog title="Workspace of the thread" wide isOpen onClose={onClose}>
      <Shown query={policy} skeleton={<Skeleton lines={2} />}>
        {({ policy: kept, expiresAt, workspaceStatus }) => (
          <div className="-mx-4">
            <Facts>
              <Fact name="Status">{wordOf(workspaceStatus)}</Fact>
              <Fact name="Put away">
                {expiresAt === null ? 'no time is set' : <Time at={expiresAt} />}
                {kept && (
                  <span className="text-ink-3">{kept.idleTimeoutMinutes} min after the last work</span>
                )}
              </Fact>
            </Facts>
          </div>
        )}
      </Shown>
      <Keep />
      <div>
        <p className="label">History</p>
        <Shown query={history} skeleton={<Skeleton lines={3} />}>
          {(data) => {
            const records = itemsOf(data);
            return records.length === 0 ? (
              <p className="text-ink-2">There was none yet. The first run, command or preview makes one.</p>
            ) : (
              <ul aria-label="Changes of the workspace">
                {records.map((record) => (
                  <Change key={record.id} appId={appId} record={record} />
                ))}
              </ul>
            );
          }}
        </Shown>
        {history.hasNextPage && (
          <Button isPending={history.isFetchingNextPage} onPress={() => void history.fetchNextPage()}>
            Show older ones
          </Button>
        )}
      </div>
    </Dialog>
  );
}

const WORDS: Record<string, string> = {
  preparing: 'being made',
  cancelled: 'not made: it was cancelled',
  ready: 'ready',
  archived: 'put away: the next work brings it back',
  cleanup_pending: 'being cleaned up',
  error: 'failed',
};
const wordOf = (status: string | null): string => (status === null ? 'none yet' : (WORDS[status] ?? status));

function Change({ appId, record }: { appId: string; record: WorkspaceRecord }) {
  const { to, reason, sourceId, createdAt } = record;
  return (
    <li className="row min-h-7 flex-wrap gap-y-0 px-0">
      <span className="min-w-0 flex-1 basis-60">
        {WORDS[to] ?? to}
        {reason && (
          <span className="text-ink-3">
            {', '}
            <Plain text={reason.replaceAll('_', ' ')} />
          </span>
        )}
      </span>
      {sourceId !== null && (
        <Link
          to="/apps/$appId/sources/$sourceId"
          params={{ appId, sourceId }}
          className="link font-mono text-mono"
          title={sourceId}
        >
          …{sourceId.slice(-6)}
        </Link>
      )}
      <span className="w-24 text-right text-ink-3">
        <Time at={createdAt} />
      </span>
    </li>
  );
}

/** Reports activity: the time until it is put away begins anew. */
function Keep() {
  const place = useThread();
  const { appId, threadId } = place;
  const [typed, setTyped] = useState('30');
  const queries = useQueryClient();
  const off = useOffReason();
  const may = useMay('thread:update');
  const minutes = Number(typed);
  const isRight = /^\d+$/.test(typed.trim()) && minutes >= 1 && minutes <= 60;
  const body: ReportActivityInput = { idleTimeoutMinutes: minutes };
  const write = useWrite({
    intent: `activity of ${threadId}`,
    call: (input: ReportActivityInput, options) =>
      client.workspaces.reportActivity(appId, threadId, input, options),
    onDone: (policy) => {
      queries.setQueryData(workspacePolicyQuery(appId, threadId).queryKey, policy);
      notify('The workspace is kept.');
    },
  });
  if (!may) return null;
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (isRight && !off && !write.isSending) write.send(body);
      }}
    >
      <div className="flex flex-wrap items-end gap-2">
        <div className="w-44">
          <Field
            label="Keep it, in minutes"
            inputMode="numeric"
            value={typed}
            onChange={setTyped}
            fault={isRight ? fieldFault(write.fault, '/idleTimeoutMinutes') : 'A whole number from 1 to 60.'}
          />
        </div>
        <Button type="submit" isPending={write.isSending} offBecause={off}>
          Keep it from now
        </Button>
        <AsCode
          method="POST"
          path={pathOf(place, '/workspace/activity')}
          body={body}
          ts={callOf('workspaces.reportActivity', place, body)}
        />
      </div>
      <FaultLine fault={write.fault} at={['/idleTimeoutMinutes']} />
    </form>
  );
}
