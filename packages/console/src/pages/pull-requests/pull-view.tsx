/** One pull request of a thread: where it stands, its text, and all that can be done with it. */
import type { PullRequest, UpdatePullRequestInput } from '@headrace/client';
import { lazy, Suspense, useMemo, useState } from 'react';
import { client } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { notify } from '../../ui/notices.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { LongText } from '../thread/long-text.tsx';
import { PullAsCode, PullContext, usePull, usePullOff, usePullWrite } from './context.tsx';
import { PullFacts } from './facts.tsx';
import { LoopAgain } from './loop-again.tsx';
import { ReviewLoop } from './loop.tsx';
import { ProviderLink } from './marks.tsx';
import { Push } from './push.tsx';
import { RefusalLine } from './refusal-line.tsx';
import { standingOf } from './standing.ts';
import { UpdateBranch } from './update-branch.tsx';

const Markdown = lazy(async () => ({ default: (await import('../thread/markdown.tsx')).Markdown }));
const EditDialog = lazy(async () => ({ default: (await import('./edit-dialog.tsx')).EditDialog }));
const MergeDialog = lazy(async () => ({ default: (await import('./merge-dialog.tsx')).MergeDialog }));

export function PullView({ appId, pull }: { appId: string; pull: PullRequest }) {
  const place = useMemo(() => ({ appId, threadId: pull.threadId, pull }), [appId, pull]);
  return (
    <PullContext value={place}>
      <div className="flex flex-col gap-2 px-4 pt-3 pb-2">
        <h2 className="long text-15 font-bold">
          <Plain text={pull.title} />
        </h2>
        <Head />
        <Actions />
      </div>
      <PullFacts pull={pull} />
      <Text />
      {/* Below what is asked most: is it green, and who waits for whom. */}
      <ReviewLoop />
      <Push />
      {pull.state === 'open' && <UpdateBranch />}
    </PullContext>
  );
}

function Head() {
  const { pull } = usePull();
  const standing = standingOf(pull);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-12 text-ink-3">
        <Status status={pull.state} />
        {pull.draft && <span className="rounded border border-line px-1 text-11">draft</span>}
        <ProviderLink pull={pull} text={`${pull.repoFullName} #${pull.number}`} />
        <span>
          opened <Time at={pull.createdAt} />
        </span>
      </div>
      {pull.state === 'open' && (
        <p className={`long ${standing.isForPerson ? 'text-wait' : 'text-ink-2'}`}>
          <Plain text={standing.what} /> {standing.todo}
        </p>
      )}
      {pull.state === 'open' && <LoopAgain standing={standing} />}
    </>
  );
}

function Text() {
  const { body } = usePull().pull;
  if (body.trim() === '') return null;
  return (
    <div className="flex min-w-0 flex-col gap-2 border-t border-line px-4 py-3">
      <LongText text={body}>
        {(shown) => (
          <Suspense fallback={<Skeleton lines={2} />}>
            <Markdown text={shown} />
          </Suspense>
        )}
      </LongText>
    </div>
  );
}

type Over = 'merge' | 'edit' | 'close' | null;

function Actions() {
  const { appId, threadId, pull } = usePull();
  const [over, setOver] = useState<Over>(null);
  const off = usePullOff();
  const mayMerge = useMay('repo:update');
  const close = () => setOver(null);
  const update = usePullWrite(
    'state',
    (ids, body: UpdatePullRequestInput, options) => client.pullRequests.update(...ids, body, options),
    (changed) => notify(changed.state === 'closed' ? 'Closed without a merge.' : 'It is open again.'),
  );
  if (pull.state === 'merged') return null;
  if (pull.state === 'closed')
    return (
      <>
        <span className="flex items-center gap-1">
          <Button
            offBecause={off}
            isPending={update.isSending}
            onPress={() => update.send({ state: 'open' })}
          >
            Open it again
          </Button>
          <PullAsCode
            method="PATCH"
            name="update"
            body={{ state: 'open' }}
            cli={`update ${pull.number} --reopen`}
          />
        </span>
        <RefusalLine fault={update.fault} appId={appId} threadId={threadId} />
      </>
    );
  const standing = standingOf(pull);
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <Button
          kind={standing.status === 'ready' ? 'primary' : 'plain'}
          offBecause={off ?? mergeOff(pull, mayMerge)}
          onPress={() => setOver('merge')}
        >
          Merge
        </Button>
        <Button offBecause={off} onPress={() => setOver('edit')}>
          Edit
        </Button>
        <Button offBecause={off} isPending={update.isSending} onPress={() => setOver('close')}>
          Close
        </Button>
      </div>
      <RefusalLine fault={update.fault} appId={appId} threadId={threadId} />
      <Suspense>
        {over === 'merge' && <MergeDialog onClose={close} />}
        {over === 'edit' && <EditDialog onClose={close} />}
      </Suspense>
      <Confirm
        title="Close the pull request"
        verb="Close it"
        isOpen={over === 'close'}
        onClose={close}
        onConfirm={() => update.send({ state: 'closed' })}
      >
        <p>
          Nothing is merged, and nothing more is pushed. The branch stays, and the pull request can be opened
          again. Its review loop ends.
        </p>
        <PullAsCode
          method="PATCH"
          name="update"
          body={{ state: 'closed' }}
          cli={`update ${pull.number} --close`}
        />
      </Confirm>
    </>
  );
}

function mergeOff({ scmSummary }: PullRequest, mayMerge: boolean): string | null {
  if (!mayMerge) return 'Your role may not merge: it takes repo:update.';
  return scmSummary?.mergeQueued ? 'It is in the merge queue of the provider.' : null;
}
