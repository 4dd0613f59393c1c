import type { Build } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { buildQuery } from '../../api/queries.ts';
import { Plain } from '../../code/index.ts';
import { Fact, Facts, Page } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { CopyButton, Id, Time, Took, bytes, plural } from '../../ui/values.tsx';
import { Artifact } from './artifact.tsx';
import { BuildActions, isActive } from './build-actions.tsx';
import { Failed } from './failed.tsx';
import { LogPanel } from './log-panel.tsx';
import { SourceLink } from './source-link.tsx';
import { ThreadLink } from './threads-of.tsx';
import { WithLayer } from './layer.tsx';
import { remedyOf } from './words.ts';

const route = getRouteApi('/signed-in/apps/$appId/builds/$buildId');

export function BuildPage() {
  const { appId, buildId } = route.useParams();
  const { part = 'log' } = route.useSearch();
  const build = useQuery(buildQuery(appId, buildId));
  return (
    <Page
      title={`Build …${buildId.slice(-6)}`}
      heading={
        <span className="flex flex-wrap items-center gap-3">
          Build <Id value={buildId} />
          <span className="text-13 font-normal">{build.data && <Status status={build.data.status} />}</span>
        </span>
      }
      actions={build.data && <BuildActions build={build.data} />}
    >
      <Shown query={build}>
        {(data) => (
          <>
            <About build={data} />
            <nav aria-label="Build" className="mt-2 flex gap-1 border-b border-line px-4">
              {(['log', 'files'] as const).map((name) => (
                <Link
                  key={name}
                  from="/apps/$appId/builds/$buildId"
                  to="."
                  search={(now) => ({ ...now, part: name === 'log' ? undefined : name })}
                  replace
                  activeOptions={{ exact: true }}
                  aria-current={part === name ? 'page' : undefined}
                  className={`flex items-center border-b-2 px-2 py-2 ${part === name ? 'border-water text-ink' : 'border-transparent text-ink-2 hover:text-ink'}`}
                >
                  {name === 'log' ? 'Log' : 'Files'}
                </Link>
              ))}
            </nav>
            {part === 'files' ? (
              <Artifact build={data} />
            ) : (
              <LogPanel
                key={data.id}
                logged={{ of: 'builds', appId, id: data.id }}
                now={data.status === 'queued' ? 'queued' : isActive(data) ? 'running' : 'ended'}
                waitsFor={data.setup ? 'its turn, or for the setup' : 'its turn'}
              />
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

function About({ build }: { build: Build }) {
  const { projectId: appId, error } = build;
  return (
    <>
      {error && (
        <Failed message={error.message} exitCode={build.exitCode}>
          {remedyOf(error.code) ?? error.code}
        </Failed>
      )}
      <Facts>
        <Fact name="Command">
          <code className="long line-clamp-3 font-mono text-mono whitespace-pre-wrap" title={build.command}>
            <Plain text={build.command} />
          </code>
          <span className="flex self-start">
            <CopyButton text={build.command} label="Copy the command" />
          </span>
        </Fact>
        <Fact name="Output">
          <code className="long font-mono text-mono">
            <Plain text={build.outputDirectory} />
          </code>
        </Fact>
        {build.threadId !== null && (
          <Fact name="Thread">
            <ThreadLink appId={appId} threadId={build.threadId} />
          </Fact>
        )}
        <Fact name="Source">
          <SourceLink appId={appId} sourceId={build.sourceId} />
        </Fact>
        {build.setup && (
          <Fact name="Setup">
            <WithLayer appId={appId} />
          </Fact>
        )}
        <Fact name={isActive(build) ? 'So far' : 'Took'}>
          <span>
            <Took from={build.startedAt} to={build.finishedAt} />
            <span className="text-ink-3"> of at most {build.timeoutSeconds} s · </span>
            <span className="whitespace-nowrap">
              <span className="text-ink-3">{isActive(build) ? 'asked for' : 'made'} </span>
              <Time at={build.createdAt} />
            </span>
          </span>
        </Fact>
        {build.artifactByteSize !== null && (
          <Fact name="Artifact">
            <span>
              {plural(build.fileCount ?? 0, 'file')} · {bytes(build.artifactByteSize)}
            </span>
          </Fact>
        )}
      </Facts>
    </>
  );
}
