/** Whether the branch holds what the thread has, and what to do where it does not. */
import type { SyncPullRequestInput } from '@headrace/client';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Switch } from '../../ui/fields.tsx';
import { notify } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { useThread } from '../thread/context.ts';
import { PullAsCode, usePull, usePullOff, usePullWrite } from './context.tsx';
import { RefusalLine } from './refusal-line.tsx';
import { pushedOf } from './pushed.ts';
import { divergedBy, isTransferred, pushFailed } from './standing.ts';
import { TakeDialog } from './take-dialog.tsx';

const NO_TAKE: SyncPullRequestInput = {};

export function Push() {
  const { appId, threadId, pull } = usePull();
  const { latestSourceId } = useThread().thread;
  const off = usePullOff();
  const [isTaking, setTaking] = useState(false);
  const sync = usePullWrite(
    'sync',
    (ids, body: SyncPullRequestInput, options) => client.pullRequests.sync(...ids, body, options),
    () => notify('The branch and its provider are looked at now.'),
  );
  const { push } = pull;
  const isOthers = isTransferred(pull);
  const isOpen = pull.state === 'open' && !isOthers;
  return (
    <Section
      title="Push"
      actions={
        <span className="flex items-center">
          <Button offBecause={off} isPending={sync.isSending} onPress={() => sync.send(NO_TAKE)}>
            Sync now
          </Button>
          <PullAsCode rest="/sync" name="sync" body={NO_TAKE} cli={`sync ${pull.number}`} />
        </span>
      }
    >
      <div className="flex flex-col items-start gap-2 px-4 pb-3">
        <Status {...pushedOf(pull, latestSourceId)} />
        {!isOthers && <Why />}
        {push.status === 'diverged' && isOpen && (
          <Button kind="primary" offBecause={off} onPress={() => setTaking(true)}>
            Choose whose files count
          </Button>
        )}
        <RefusalLine fault={sync.fault} appId={appId} threadId={threadId} />
        {isOpen && <AutoPush />}
      </div>
      <TakeDialog isOpen={isTaking} onClose={() => setTaking(false)} />
    </Section>
  );
}

function Why() {
  const { push } = usePull().pull;
  if (push.status === 'diverged')
    return (
      <>
        <p className="text-ink-2">{divergedBy(push).what}</p>
        <Paths paths={push.conflicts} />
      </>
    );
  if (push.status !== 'failed') return null;
  const { what, todo } = pushFailed(push);
  return (
    <>
      <p className="text-ink-2">
        {what} {todo}
      </p>
      {push.error && (
        <p className="long font-mono text-mono text-ink-3">
          <Plain text={push.error.message} />
        </p>
      )}
    </>
  );
}

/** As many as fit a panel. */
const MOST = 20;

export function Paths({ paths }: { paths: readonly string[] }) {
  if (paths.length === 0) return null;
  return (
    <ul aria-label="Conflicted paths" className="flex min-w-0 flex-col font-mono text-mono">
      {paths.slice(0, MOST).map((path) => (
        <li key={path} className="long">
          <Plain text={path} />
        </li>
      ))}
      {paths.length > MOST && <li className="text-ink-3">and {paths.length - MOST} more</li>}
    </ul>
  );
}

function AutoPush() {
  const { appId, threadId, pull } = usePull();
  const off = usePullOff();
  const update = usePullWrite('auto push', (ids, autoPush: boolean, options) =>
    client.pullRequests.update(...ids, { autoPush }, options),
  );
  const isHeld = pull.reviewLoop?.enabled === true;
  const next = !pull.autoPush;
  return (
    <>
      <span className="flex flex-wrap items-center gap-x-2">
        <Switch
          isSelected={pull.autoPush}
          isDisabled={off !== null || isHeld || update.isSending}
          onChange={update.send}
        >
          Push each newer change of the thread
        </Switch>
        <PullAsCode
          method="PATCH"
          name="update"
          body={{ autoPush: next }}
          cli={`update ${pull.number} --auto-push ${next ? 'on' : 'off'}`}
        />
      </span>
      <p className="text-12 text-ink-3">
        {off ??
          (isHeld
            ? 'The review loop needs it: switch that off first.'
            : 'Off: the branch stays as it is until you sync.')}
      </p>
      <RefusalLine fault={update.fault} appId={appId} threadId={threadId} />
    </>
  );
}
