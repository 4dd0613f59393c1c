/** The state of the whole service, for its operators. */
import type { System } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { systemQuery } from '../../api/running-queries.ts';
import { Plain } from '../../code/index.ts';
import { Fact, Facts, Page, Section } from '../../ui/page.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time, Took, bytes, count, duration } from '../../ui/values.tsx';
import { Commands } from './commands.tsx';
import { ConfigList } from './config-list.tsx';
import { Freshness } from './freshness.tsx';
import { Processes, Queues } from './processes.tsx';
import { Runners } from './runners.tsx';
import { Stuck } from './stuck.tsx';

const route = getRouteApi('/signed-in/system');

export function SystemPage() {
  const { find = '', seconds } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(systemQuery);
  const { data, failureCount, isError } = query;
  return (
    <Page
      title="System"
      actions={
        data && (
          <Freshness
            readAt={data.readAt}
            isFailing={isError || failureCount > 0}
            retry={() => void query.refetch()}
          />
        )
      }
    >
      <Shown query={query} skeleton={<Skeleton lines={14} />}>
        {({ system, readAt }) => (
          <>
            <Service system={system} />
            <Parts parts={system.parts} />
            <Stuck />
            <Queues queues={system.queues} />
            <Runners runners={system.runners} />
            <Processes processes={system.processes} readAt={readAt} />
            <Stores system={system} />
            <ConfigList
              config={system.config}
              find={find}
              onFind={(text) =>
                void navigate({
                  search: { ...(seconds !== undefined && { seconds }), ...(text && { find: text }) },
                  replace: true,
                })
              }
            />
            <Commands />
          </>
        )}
      </Shown>
    </Page>
  );
}

const Service = ({ system: { version, startedAt } }: { system: System }) => (
  <Facts>
    <Fact name="Version">{version}</Fact>
    <Fact name="Uptime">
      <Took from={startedAt} to={null} />
      <span className="text-ink-3">of the process that answered</span>
    </Fact>
  </Facts>
);

function Parts({ parts }: { parts: System['parts'] }) {
  return (
    <Section
      title="Parts"
      actions={
        <a href="/health/ready" target="_blank" rel="noreferrer" className="link font-mono text-mono">
          /health/ready
        </a>
      }
    >
      <ul aria-label="Parts">
        {parts.map(({ name, status, message }) => (
          <li key={name} className="row min-h-7 flex-wrap gap-y-0 py-1">
            <span className="w-24 shrink-0">
              <Status status={status} />
            </span>
            <span className="w-24 shrink-0 first-letter:uppercase">{name}</span>
            <span className="long flex-[1_1_240px] text-ink-2">
              {message === null ? '' : <Plain text={message} />}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const KINDS: Record<string, string> = { folder: 'a folder', s3: 'S3' };

function Stores({ system: { database, storage, log } }: { system: System }) {
  return (
    <Section title="Database, storage and log">
      <Facts>
        <Fact name="Database">
          <span>
            PostgreSQL {database.version} · {bytes(database.byteSize)} · {count(database.connections)}{' '}
            connections
          </span>
        </Fact>
        <Fact name="Storage">
          <span>
            {KINDS[storage.kind] ?? storage.kind} ·{' '}
            {storage.byteSize === null
              ? 'too many objects to add up'
              : `${bytes(storage.byteSize)} of packs and artifacts`}
          </span>
        </Fact>
        <Fact name="Log">
          <span>
            {duration(log.lagMs)} behind ·{' '}
            {log.retainedFrom === null ? (
              'no event is kept'
            ) : (
              <>
                the oldest event is from <Time at={log.retainedFrom} />
              </>
            )}
          </span>
        </Fact>
      </Facts>
    </Section>
  );
}
