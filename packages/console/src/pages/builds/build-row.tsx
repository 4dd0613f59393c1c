/** One build as a row that opens it. */
import type { Build } from '@headrace/client';
import { Link } from '@tanstack/react-router';
import { Plain } from '../../code/index.ts';
import { Status } from '../../ui/status.tsx';
import { Id, Time, Took, bytes } from '../../ui/values.tsx';

/** `thread`: its title, where rows are of several threads. */
export function BuildRow({ build, thread }: { build: Build; thread?: string }) {
  const { id: buildId, projectId: appId, status, error, command, artifactByteSize } = build;
  // In a panel it is as narrow as on a phone.
  return (
    <div className="@container">
      <Link
        data-row
        to="/apps/$appId/builds/$buildId"
        params={{ appId, buildId }}
        className="row flex-wrap gap-y-0 px-4"
      >
        <span className="w-24 shrink-0">
          <Status status={status} {...(error?.code === 'cancelled' && { word: 'cancelled' })} />
        </span>
        <span className="min-w-0 flex-[1_1_200px]">
          <span className="block truncate font-mono text-mono">
            <Plain text={command.replace(/\s+/g, ' ')} />
          </span>
          <span className="flex min-w-0 items-center gap-2 text-12 text-ink-3">
            {thread !== undefined && (
              <span className="truncate">
                <Plain text={thread} />
              </span>
            )}
            <Id value={build.sourceId} copy={false} />
          </span>
        </span>
        <span className="flex basis-full items-center gap-4 pl-27 text-ink-2 @min-[560px]:basis-auto @min-[560px]:pl-0">
          <span className="@min-[560px]:w-20 @min-[560px]:text-right">
            <Took from={build.startedAt} to={build.finishedAt} />
          </span>
          <span className="tabular-nums @max-[560px]:empty:hidden @min-[560px]:w-16 @min-[560px]:text-right">
            {artifactByteSize === null ? '' : bytes(artifactByteSize)}
          </span>
          <span className="text-ink-3 @min-[560px]:w-24 @min-[560px]:text-right">
            <Time at={build.createdAt} />
          </span>
        </span>
      </Link>
    </div>
  );
}
