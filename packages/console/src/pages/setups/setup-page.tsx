import type { Setup } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { isUnderWay, setupQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason } from '../../api/write.ts';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Fact, Facts, Page } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { CopyButton, Id, Time, Took, bytes } from '../../ui/values.tsx';
import { Failed } from '../builds/failed.tsx';
import { LogPanel } from '../builds/log-panel.tsx';
import { SourceLink } from '../builds/source-link.tsx';
import { AskAsCode, useAsk } from './ask.tsx';
import { remedyOf } from './words.ts';

const route = getRouteApi('/signed-in/apps/$appId/setups/$setupId');

export function SetupPage() {
  const { appId, setupId } = route.useParams();
  const setup = useQuery(setupQuery(appId, setupId));
  const { data } = setup;
  return (
    <Page
      title={`Setup …${setupId.slice(-6)}`}
      heading={
        <span className="flex flex-wrap items-center gap-3">
          Setup <Id value={setupId} />
          <span className="text-13 font-normal">{data && <Status status={data.status} />}</span>
        </span>
      }
      actions={data && !isUnderWay(data) && <Again setup={data} />}
    >
      <Shown query={setup}>
        {(shown) => (
          <>
            <About setup={shown} />
            <div className="mt-2 border-b border-line" />
            <LogPanel
              key={shown.id}
              logged={{ of: 'setups', appId, id: shown.id }}
              now={shown.status === 'queued' ? 'queued' : isUnderWay(shown) ? 'running' : 'ended'}
              waitsFor="its turn"
            />
          </>
        )}
      </Shown>
    </Page>
  );
}

/** With the command and the files that the settings name now, so perhaps with another key. */
function Again({ setup }: { setup: Setup }) {
  const { projectId: appId, sourceId } = setup;
  const off = useOffReason();
  const may = useMay('thread:update');
  const ask = useAsk(appId);
  if (!may) return null;
  const hasFailed = setup.status === 'failed';
  const body = { sourceId, ...(!hasFailed && { force: true }) };
  return (
    <>
      <FaultLine fault={ask.fault} />
      <AskAsCode appId={appId} body={body} />
      <Button
        kind={hasFailed ? 'primary' : 'plain'}
        isPending={ask.isSending}
        offBecause={off}
        onPress={() => ask.send(body)}
      >
        {hasFailed ? 'Try again' : 'Run again'}
      </Button>
    </>
  );
}

function About({ setup }: { setup: Setup }) {
  const { projectId: appId, command, key, error, exitCode, byteSize } = setup;
  return (
    <>
      {error && (
        <Failed message={error.message} exitCode={exitCode}>
          {remedyOf(error.code)} Threads go on without its layer.
        </Failed>
      )}
      <Facts>
        <Fact name="Command">
          <code className="long line-clamp-3 font-mono text-mono whitespace-pre-wrap" title={command}>
            <Plain text={command} />
          </code>
          <span className="flex self-start">
            <CopyButton text={command} label="Copy the command" />
          </span>
        </Fact>
        <Fact name="Key">
          <code className="font-mono text-mono" title={key}>
            {key.slice(0, 12)}…
          </code>
          <CopyButton text={key} label="Copy the key" />
          <span className="text-ink-3 max-sm:hidden">of the command and the files that it needs</span>
        </Fact>
        <Fact name="First for">
          <SourceLink appId={appId} sourceId={setup.sourceId} />
        </Fact>
        {exitCode !== null && <Fact name="Exit code">{exitCode}</Fact>}
        {byteSize !== null && <Fact name="Layer">{bytes(byteSize)}</Fact>}
        <Fact name={isUnderWay(setup) ? 'So far' : 'Took'}>
          <span>
            <Took from={setup.startedAt} to={setup.finishedAt} />
            <span className="text-ink-3"> · {isUnderWay(setup) ? 'asked for' : 'made'} </span>
            <Time at={setup.createdAt} />
          </span>
        </Fact>
      </Facts>
    </>
  );
}
