/** A preview as it is now: its frame, its start, or why there is none. */
import type { Preview } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { serviceNow } from '../../api/clock.ts';
import { SETUP_EVERY_MS, isUnderWay, setupsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain, plainOutput } from '../../code/index.ts';
import { Empty } from '../../ui/states.tsx';
import { Took } from '../../ui/values.tsx';
import { PreviewFrame } from './preview-frame.tsx';

/** The service gives a server so long to listen. */
const START_SECONDS = 60;

const REMEDIES: Record<string, string> = {
  command_ended:
    'A preview’s command has to stay and serve. Run the same command as a build of this thread to read what it prints.',
  start_timed_out: `Nothing listened on the port within ${START_SECONDS} seconds. Check that the command serves on this port, on 0.0.0.0 or localhost.`,
  sandbox_lost: 'The machine that ran it is gone. Start it again.',
  setup_failed:
    'The setup failed, so this did not start. Its log says why: see the setups. Without the setup’s layer it starts all the same.',
};

export function PreviewState({
  preview,
  title,
  children,
}: {
  preview: Preview;
  title: string;
  /** What can be done about one that does not run. */
  children?: ReactNode;
}) {
  const { status, error } = preview;
  if (status === 'ready') return <PreviewFrame key={preview.id} preview={preview} title={title} />;
  if (status === 'starting') return <Starting preview={preview} />;
  if (status === 'failed')
    return (
      <div role="alert" className="mx-4 my-4 flex flex-col items-start gap-2 border-l-2 border-fail pl-3">
        <p className="long text-15 font-bold">
          <Plain text={plainOutput(error?.message ?? 'The preview failed.')} />
        </p>
        {error && <p className="max-w-[64ch] text-ink-2">{REMEDIES[error.code] ?? error.code}</p>}
        {children}
      </div>
    );
  return (
    <Empty title={status === 'stopped' ? 'The preview is stopped' : `The preview is ${String(status)}`}>
      <p>Its address answers no more. A new one has another address.</p>
      {children}
    </Empty>
  );
}

function Starting({ preview }: { preview: Preview }) {
  const { projectId: appId, port, createdAt } = preview;
  const { data } = useInfiniteQuery({
    ...setupsQuery(appId),
    enabled: preview.setup,
    refetchInterval: SETUP_EVERY_MS,
  });
  // It may be another one's; the wait for it is none of those seconds.
  const setup = itemsOf(data).find(isUnderWay);
  // The bar goes on by itself from here.
  const [passed] = useState(() => Math.max(0, serviceNow() - new Date(createdAt).getTime()));
  if (setup)
    return (
      <Empty title="The preview is starting">
        <p role="status">It begins once the setup has ended.</p>
        <Link to="/apps/$appId/setups/$setupId" params={{ appId, setupId: setup.id }} className="link">
          Show the setup
        </Link>
      </Empty>
    );
  return (
    <Empty title="The preview is starting">
      <div role="status" className="flex w-full max-w-80 flex-col gap-2">
        <span>
          Its command runs; nothing answers on port {port} yet. <Took from={createdAt} to={null} /> of at most{' '}
          {START_SECONDS} s.
        </span>
        <div aria-hidden className="h-1 overflow-hidden rounded bg-sunk">
          <div
            className="h-1 origin-left bg-water"
            style={{ animation: `preview-start ${START_SECONDS}s linear ${-passed}ms both` }}
          />
        </div>
      </div>
    </Empty>
  );
}
