/** One apply: where it is, what it merges, what the agent tried, what came of it. */
import type { Apply } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { appliesQuery, applyQuery, headHistoryQuery, threadQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/index.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';
import { Fact, Facts, Page, Section } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Id, Time, Took, plural } from '../../ui/values.tsx';
import { adviceOf, messageOf } from './advice.ts';
import { aheadOf, stageOf } from './queue.ts';
import { Repairs } from './repairs.tsx';
import { ThreeWay } from './three-way.tsx';

const route = getRouteApi('/signed-in/apps/$appId/applies/$applyId');

export function ApplyPage() {
  const { appId, applyId } = route.useParams();
  const apply = useQuery(applyQuery(appId, applyId));
  const { data } = apply;
  return (
    <Page title={data ? `Apply ${data.sequence}` : 'Apply'} actions={data && <Actions apply={data} />}>
      <Shown query={apply}>{(read) => <OneApply apply={read} />}</Shown>
    </Page>
  );
}

function Actions({ apply }: { apply: Apply }) {
  const { projectId: appId, threadId, status, headSourceId, resultSourceId } = apply;
  const thread = useQuery(threadQuery(appId, threadId));
  const mayStop = useMay('thread:stop');
  const isRepaired = status === 'queued' && apply.repairs.length > 0;
  const isOpen = status === 'conflicted' || (status === 'failed' && !thread.data?.archivedAt);
  return (
    <>
      {isRepaired && mayStop && <StopRepair appId={appId} threadId={threadId} />}
      {isOpen && !thread.data?.sealedAt && (
        <ButtonLink kind="primary" to="/apps/$appId/threads/$threadId/apply" params={{ appId, threadId }}>
          {status === 'conflicted' ? 'Resolve by hand' : 'Apply again'}
        </ButtonLink>
      )}
      {status === 'applied' && headSourceId && resultSourceId && (
        <ButtonLink
          to="/apps/$appId/diff"
          params={{ appId }}
          search={{ from: headSourceId, to: resultSourceId }}
        >
          Show what it changed
        </ButtonLink>
      )}
    </>
  );
}

/** An apply itself is not taken back; a repair's run can be stopped, and ends it as conflicted. */
function StopRepair({ appId, threadId }: { appId: string; threadId: string }) {
  const off = useOffReason();
  const write = useWrite({
    intent: `stop ${threadId}`,
    call: (_: null, options) => client.runs.stop(appId, threadId, options),
    onDone: () => notify('The repair is being stopped.'),
  });
  return (
    <>
      <Button
        kind="danger"
        offBecause={off ?? (write.isSending ? 'It is being sent.' : null)}
        onPress={() => write.send(null)}
      >
        Stop the repair
      </Button>
      <AsCode
        method="POST"
        path={`/api/platform/v1/apps/${appId}/threads/${threadId}/stop`}
        ts={`await client.runs.stop('${appId}', '${threadId}');`}
        cli={`headrace stop ${threadId} --app ${appId}`}
      />
      <FaultLine fault={write.fault} />
    </>
  );
}

function OneApply({ apply }: { apply: Apply }) {
  const { projectId: appId, threadId, baseSourceId, headSourceId, draftSourceId, resultSourceId } = apply;
  const thread = useQuery(threadQuery(appId, threadId));
  const advice = adviceOf(apply);
  // For those who run the service, and the advice says it, too.
  const said = apply.error && !apply.error.startsWith('not_configured:') ? messageOf(apply.error) : null;
  return (
    <>
      <Facts>
        <Fact name="Status">
          <Stage apply={apply} />
        </Fact>
        <Fact name="Thread">
          <Link to="/apps/$appId/threads/$threadId" params={{ appId, threadId }} className="link long">
            {thread.data ? (
              <Plain text={thread.data.title ?? 'Untitled thread'} />
            ) : (
              <Id value={threadId} copy={false} />
            )}
          </Link>
        </Fact>
        <Fact name="Asked for">
          <Time at={apply.createdAt} />
        </Fact>
        <Fact name={apply.finishedAt ? 'Took' : 'So far'}>
          <Took from={apply.createdAt} to={apply.finishedAt} />
        </Fact>
        <Fact name="On conflicts">
          {apply.conflictResolution === 'agent' ? 'an agent repairs them' : 'they are decided by hand'}
        </Fact>
        {apply.expectedHeadSourceId && (
          <Fact name="For the head">
            <Id value={apply.expectedHeadSourceId} />
          </Fact>
        )}
        {resultSourceId && (
          <Fact name="Result">
            <Id value={resultSourceId} />
            <Link
              to="/apps/$appId/sources/$sourceId"
              params={{ appId, sourceId: resultSourceId }}
              className="link"
            >
              files
            </Link>
          </Fact>
        )}
        <Fact name="Id">
          <Id value={apply.id} />
        </Fact>
      </Facts>
      {(said ?? advice) && (
        <div
          role="status"
          className="mx-4 mb-3 flex flex-col gap-1 border-l-2 border-wait bg-wait-wash px-3 py-2"
        >
          {said && (
            <p className="long text-pretty">
              <Plain text={said} />
            </p>
          )}
          {advice && <p className={`text-pretty ${said ? 'text-ink-2' : ''}`}>{advice}</p>}
        </div>
      )}
      {baseSourceId && headSourceId && (
        <Section title="Changes on both sides">
          <ThreeWay appId={appId} base={baseSourceId} head={headSourceId} draft={draftSourceId} />
        </Section>
      )}
      {apply.repairs.length > 0 && (
        <Section title="Repairs">
          <Repairs apply={apply} />
        </Section>
      )}
      {apply.conflicts.length > 0 && <Conflicts apply={apply} />}
      {apply.resolutions.length > 0 && (
        <Section title={`Decided by hand (${apply.resolutions.length})`}>
          <ul>
            {apply.resolutions.map(({ path, take }) => (
              <li key={path} className="row min-h-7">
                <span className="long grow font-mono text-mono">
                  <Plain text={path} />
                </span>
                <span className="text-ink-2">{take}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Stage({ apply }: { apply: Apply }) {
  const { projectId: appId, id, status } = apply;
  const queued = useInfiniteQuery({
    ...appliesQuery(appId, { status: 'queued' }),
    enabled: status === 'queued',
  });
  const heads = useInfiniteQuery({ ...headHistoryQuery(appId), enabled: status === 'applied' });
  const ahead = queued.data ? aheadOf(apply, itemsOf(queued.data)) : null;
  const revision = heads.data?.pages
    .flatMap(({ items }) => items)
    .find(({ applyId }) => applyId === id)?.revision;
  return (
    <>
      <Status status={stageOf(apply, ahead)} />
      {status === 'queued' && apply.repairs.length === 0 && ahead !== null && (
        <span className="text-ink-2">
          {ahead === 0 ? 'next in the queue' : `${plural(ahead, 'apply', 'applies')} before it`}
        </span>
      )}
      {revision !== undefined && (
        <Link to="/apps/$appId" params={{ appId }} className="link">
          revision {revision}
        </Link>
      )}
    </>
  );
}

const MOST = 200;

function Conflicts({ apply: { projectId: appId, threadId, conflicts, status } }: { apply: Apply }) {
  const title = `Conflicts (${conflicts.length})`;
  return (
    <Section title={title}>
      <ul>
        {conflicts.slice(0, MOST).map((path) =>
          status === 'conflicted' ? (
            <li key={path}>
              <Link
                to="/apps/$appId/threads/$threadId/apply"
                params={{ appId, threadId }}
                search={{ path }}
                data-row
                className="row min-h-7"
              >
                <span className="long font-mono text-mono">
                  <Plain text={path} />
                </span>
              </Link>
            </li>
          ) : (
            <li key={path} className="row min-h-7">
              <span className="long font-mono text-mono">
                <Plain text={path} />
              </span>
            </li>
          ),
        )}
      </ul>
      {conflicts.length > MOST && <p className="px-4 py-2 text-ink-3">and {conflicts.length - MOST} more</p>}
    </Section>
  );
}
