/** The review loop: why it waits, what it did, and how a person takes over. */
import type { UpdateReviewLoopInput } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { appSettingsQuery, organizationSettingsQuery, runsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useIsAdmin, useMay } from '../../api/session.ts';
import type { Write } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { Switch } from '../../ui/fields.tsx';
import { Fact, Facts, Section } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { count, Time } from '../../ui/values.tsx';
import { PullAsCode, usePull, usePullOff, usePullWrite } from './context.tsx';
import { Commit } from './marks.tsx';
import { Passes } from './passes.tsx';
import { RefusalLine } from './refusal-line.tsx';
import { DISABLED, isTransferred } from './standing.ts';
import { TakeOver } from './take-over.tsx';

type Patch = Write<UpdateReviewLoopInput, unknown>;

export function ReviewLoop() {
  const { appId, threadId, pull } = usePull();
  const { reviewLoop: loop, state } = pull;
  const patch = usePullWrite('review loop', (ids, body: UpdateReviewLoopInput, options) =>
    client.pullRequests.updateReviewLoop(...ids, body, options),
  );
  return (
    <Section title="Review loop">
      <div className="flex flex-col items-start gap-2 px-4 pb-2">
        <Now />
        <RefusalLine fault={patch.fault} appId={appId} threadId={threadId} />
        {state === 'open' && !isTransferred(pull) && <Switches patch={patch} />}
      </div>
      {loop && <LoopFacts />}
      {loop && <Passes />}
      {loop?.enabled && <TakeOver />}
    </Section>
  );
}

function Now() {
  const { reviewLoop: loop } = usePull().pull;
  if (!loop)
    return (
      <p className="text-ink-2">
        Off. Switched on, it has the agent work on failing checks, review comments and conflicts with the base
        branch until all is green.
      </p>
    );
  if (!loop.enabled)
    return (
      <>
        <Status status="disabled" word="off" />
        <p className="text-ink-2">{DISABLED[loop.disabledBy ?? ''] ?? 'It is off.'}</p>
      </>
    );
  // Why, and what a person does about it, is said above all facts.
  return (
    <>
      <Status status={loop.status} />
      {loop.status === 'error' && loop.lastErrorMessage !== null && (
        <p className="long font-mono text-mono text-ink-3">
          {loop.lastErrorCode}: <Plain text={loop.lastErrorMessage} />
        </p>
      )}
    </>
  );
}

function Switches({ patch }: { patch: Patch }) {
  const { pull } = usePull();
  const off = usePullOff();
  const mayMerge = useMay('repo:update');
  const isOn = pull.reviewLoop?.enabled ?? false;
  const merges = pull.reviewLoop?.autoMerge ?? false;
  const isOff = off !== null || patch.isSending;
  return (
    <>
      <span className="flex flex-wrap items-center gap-x-2">
        <Switch isSelected={isOn} isDisabled={isOff} onChange={(enabled) => patch.send({ enabled })}>
          Drive it to green
        </Switch>
        <LoopAsCode body={{ enabled: !isOn }} cli={`loop ${isOn ? 'off' : 'on'} ${pull.number}`} />
      </span>
      <span className="flex flex-wrap items-center gap-x-2">
        <Switch
          isSelected={merges}
          isDisabled={isOff || (!mayMerge && !merges)}
          onChange={(autoMerge) => patch.send({ autoMerge })}
        >
          Merge by itself once all is green
        </Switch>
        {/* The command for it also switches the loop on or off. */}
        <LoopAsCode body={{ autoMerge: !merges }} cli={null} />
      </span>
      <p className="text-12 text-ink-3">
        {off ??
          (mayMerge
            ? 'The required checks and reviews of the repository hold for the loop, too.'
            : 'To merge by itself also needs the permission repo:update, which your role does not have.')}
      </p>
    </>
  );
}

function LoopAsCode({ body, cli }: { body: UpdateReviewLoopInput; cli: string | null }) {
  return <PullAsCode method="PATCH" rest="/review-loop" name="updateReviewLoop" body={body} cli={cli} />;
}

/** The service's own. */
const MOST_PASSES = 5;

/** Null where it cannot be known here: the organization's settings are for its admins. */
function useMostPasses(appId: string, hasPasses: boolean): number | null {
  const isAdmin = useIsAdmin();
  const own = useQuery({ ...appSettingsQuery(appId), enabled: hasPasses });
  const isOwn = own.data?.reviewLoop?.maxPasses != null;
  const organization = useQuery({
    ...organizationSettingsQuery(),
    enabled: isAdmin && own.data !== undefined && !isOwn,
  });
  if (own.data?.reviewLoop?.maxPasses != null) return own.data.reviewLoop.maxPasses;
  return organization.data ? (organization.data.reviewLoop?.maxPasses ?? MOST_PASSES) : null;
}

function LoopFacts() {
  const { appId, threadId, pull } = usePull();
  const loop = pull.reviewLoop!;
  const most = useMostPasses(appId, loop.passCount > 0);
  const runId = loop.lastFixRunId;
  // As the conversation reads them.
  const runs = useInfiniteQuery(runsQuery(appId, threadId));
  const run = itemsOf(runs.data).find(({ id }) => id === runId);
  return (
    <Facts>
      {loop.waitUntil !== null && (
        <Fact name="Acts at the latest">
          <Time at={loop.waitUntil} />
        </Fact>
      )}
      <Fact name="Passes">
        {loop.passCount === 0 ? (
          <span className="text-ink-3">none in a row</span>
        ) : (
          <span className="tabular-nums">
            {count(loop.passCount)}
            {most === null ? '' : ` of ${most}`} in a row
          </span>
        )}
      </Fact>
      {runId !== null && (
        <Fact name="Last pass">
          {run && <Status status={run.status} />}
          <Link
            to="/apps/$appId/threads/$threadId"
            params={{ appId, threadId }}
            search={{ panel: 'runs' }}
            className="link"
            title={runId}
          >
            run …{runId.slice(-6)}
          </Link>
        </Fact>
      )}
      {loop.operationalRetryCount > 0 && (
        <Fact name="Retries">
          <span className="tabular-nums">{count(loop.operationalRetryCount)} of 3</span>
        </Fact>
      )}
      {loop.headSha !== null && (
        <Fact name="Watches">
          <Commit sha={loop.headSha} />
        </Fact>
      )}
      {loop.lastProcessedHeadSha !== null && (
        <Fact name="Last acted on">
          <Commit sha={loop.lastProcessedHeadSha} />
        </Fact>
      )}
      <Fact name="Looked">
        {loop.lastObservedAt === null ? (
          <span className="text-ink-3">not yet</span>
        ) : (
          <Time at={loop.lastObservedAt} />
        )}
      </Fact>
    </Facts>
  );
}
