/** The builds of a thread, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { buildsQuery } from '../../../api/queries.ts';
import { itemsOf } from '../../../api/query.ts';
import { useMay } from '../../../api/session.ts';
import { useOffReason } from '../../../api/write.ts';
import { Button } from '../../../ui/button.tsx';
import { ShowMore } from '../../../ui/show-more.tsx';
import { Empty, Shown } from '../../../ui/states.tsx';
import { BuildDialog } from '../../builds/build-dialog.tsx';
import { BuildRow } from '../../builds/build-row.tsx';

export function BuildsPanel({ appId, threadId }: { appId: string; threadId: string }) {
  const builds = useInfiniteQuery(buildsQuery(appId, threadId));
  const off = useOffReason();
  const may = useMay('thread:update');
  const [isAsking, setAsking] = useState(false);
  const items = itemsOf(builds.data);
  const hasNone = builds.data !== undefined && items.length === 0;
  const ask = may && (
    <Button kind={hasNone ? 'primary' : 'plain'} offBecause={off} onPress={() => setAsking(true)}>
      Build
    </Button>
  );
  return (
    <div className="flex min-w-0 flex-col">
      {may && (items.length > 0 || builds.isError) && (
        <div className="flex justify-end border-b border-line px-4 py-2">{ask}</div>
      )}
      <Shown query={builds}>
        {() =>
          items.length ? (
            items.map((build) => <BuildRow key={build.id} build={build} />)
          ) : (
            <Empty title="No builds of this thread">
              <p>A build runs a command on the thread’s source and keeps the files that it makes.</p>
              {ask}
            </Empty>
          )
        }
      </Shown>
      <ShowMore list={builds} />
      <BuildDialog appId={appId} threadId={threadId} isOpen={isAsking} onClose={() => setAsking(false)} />
    </div>
  );
}
