import type { Setup } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { setupsQuery } from '../../api/queries.ts';
import { Plain, plainOutput } from '../../code/index.ts';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Status } from '../../ui/status.tsx';
import { Time, Took, bytes } from '../../ui/values.tsx';
import { WorkList } from '../builds/work-list.tsx';
import { AskAsCode, useAsk } from './ask.tsx';

const route = getRouteApi('/signed-in/apps/$appId/setups');
const OF_HEAD = {};

/** What prepared the app's sandboxes, newest first. */
export function SetupsPage() {
  const { appId } = route.useParams();
  const setups = useInfiniteQuery(setupsQuery(appId));
  const ask = useAsk(appId);
  return (
    <WorkList
      what="setup"
      action="Prepare the head"
      onAction={() => !ask.isSending && ask.send(OF_HEAD)}
      query={setups}
      filter={null}
      renderRow={(setup) => <Row key={setup.id} setup={setup} />}
      about="A setup is a command that runs once for the same files, such as npm ci. Threads, previews and builds get what it leaves below their files. The first of them starts it, if the settings name a command."
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 pb-3">
        <Link to="/apps/$appId/settings" params={{ appId }} className="link">
          The command and its files
        </Link>
        <AskAsCode appId={appId} body={OF_HEAD} />
        <FaultLine fault={ask.fault} />
      </div>
    </WorkList>
  );
}

function Row({ setup }: { setup: Setup }) {
  const { id: setupId, projectId: appId, status, error, command, byteSize } = setup;
  return (
    <Link
      data-row
      to="/apps/$appId/setups/$setupId"
      params={{ appId, setupId }}
      className="row flex-wrap gap-y-0 px-4"
    >
      <span className="w-24 shrink-0">
        <Status status={status} />
      </span>
      <span className="min-w-0 flex-[1_1_200px]">
        <span className="block truncate font-mono text-mono">
          <Plain text={command.replace(/\s+/g, ' ')} />
        </span>
        <span className="block truncate text-12 text-ink-3">
          {error ? (
            <Plain text={plainOutput(error.message)} />
          ) : (
            <span className="font-mono">key {setup.key.slice(0, 12)}</span>
          )}
        </span>
      </span>
      <span className="flex basis-full items-center gap-4 pl-27 text-ink-2 sm:basis-auto sm:pl-0">
        <span className="sm:w-20 sm:text-right">
          <Took from={setup.startedAt} to={setup.finishedAt} />
        </span>
        <span className="tabular-nums max-sm:empty:hidden sm:w-16 sm:text-right">
          {byteSize === null ? '' : bytes(byteSize)}
        </span>
        <span className="text-ink-3 sm:w-24 sm:text-right">
          <Time at={setup.createdAt} />
        </span>
      </span>
    </Link>
  );
}
