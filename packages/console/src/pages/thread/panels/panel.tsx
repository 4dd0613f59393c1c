/** The tabs beside a conversation; which one is shown is in the address. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useLayoutEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { appQuery } from '../../../api/queries.ts';
import { Skeleton } from '../../../ui/states.tsx';
import { useThread } from '../context.ts';

// Each is loaded when it is first shown.
const BuildsPanel = lazy(async () => ({ default: (await import('./builds-panel.tsx')).BuildsPanel }));
const ChangesPanel = lazy(async () => ({ default: (await import('./changes-panel.tsx')).ChangesPanel }));
const EventsPanel = lazy(async () => ({ default: (await import('./events-panel.tsx')).EventsPanel }));
const FilesPanel = lazy(async () => ({ default: (await import('./files-panel.tsx')).FilesPanel }));
const PreviewPanel = lazy(async () => ({ default: (await import('./preview-panel.tsx')).PreviewPanel }));
const PullRequestPanel = lazy(async () => ({
  default: (await import('./pull-request-panel.tsx')).PullRequestPanel,
}));
const RunsPanel = lazy(async () => ({ default: (await import('./runs-panel.tsx')).RunsPanel }));
const TerminalPanel = lazy(async () => ({ default: (await import('./terminal-panel.tsx')).TerminalPanel }));

export type PanelName =
  | 'changes'
  | 'pull-request'
  | 'files'
  | 'preview'
  | 'terminal'
  | 'builds'
  | 'events'
  | 'runs';

const PANELS: [PanelName, string][] = [
  ['changes', 'Changes'],
  ['pull-request', 'Pull request'],
  ['files', 'Files'],
  ['builds', 'Builds'],
  ['preview', 'Preview'],
  ['terminal', 'Terminal'],
  ['runs', 'Runs'],
  ['events', 'Events'],
];

export function PanelTabs({
  shown,
  withConversation,
}: {
  shown: PanelName | undefined;
  withConversation: boolean;
}) {
  const nav = useRef<HTMLElement>(null);
  const { data: project } = useQuery(appQuery(useThread().appId));
  const hasRepository = project?.repositoryId != null;
  // On a phone not all have room: the one that is shown is always seen.
  useLayoutEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [shown]);
  return (
    <nav ref={nav} aria-label="Parts of the thread" className="tabs flex shrink-0 border-b border-line px-2">
      {withConversation && (
        <Tab to={undefined} isShown={shown === undefined}>
          Conversation
        </Tab>
      )}
      {PANELS.filter(([name]) => name !== 'pull-request' || hasRepository || shown === name).map(
        ([name, word]) => (
          <Tab key={name} to={name} isShown={shown === name}>
            {word}
          </Tab>
        ),
      )}
    </nav>
  );
}

function Tab({
  to,
  isShown,
  children,
}: {
  to: PanelName | undefined;
  isShown: boolean;
  children: ReactNode;
}) {
  const { appId, threadId } = useThread();
  return (
    <Link
      to="/apps/$appId/threads/$threadId"
      params={{ appId, threadId }}
      search={to === undefined ? {} : { panel: to }}
      // Else the conversation, which has no search of its own, is the current one beside every panel.
      activeOptions={{ exact: true }}
      replace
      aria-current={isShown ? 'true' : undefined}
      className={`flex min-h-8 items-center border-b-2 px-2 whitespace-nowrap ${isShown ? 'border-water text-ink' : 'border-transparent text-ink-2 hover:text-ink'}`}
    >
      {children}
    </Link>
  );
}

export function Panel({ shown }: { shown: PanelName }) {
  const { appId, threadId } = useThread();
  return (
    // The hidden inputs of switches are placed within it, not within the page, which they would make longer.
    <div className="relative flex min-h-0 flex-1 flex-col overflow-y-auto">
      <Suspense fallback={<Skeleton />}>
        {shown === 'changes' && <ChangesPanel />}
        {shown === 'pull-request' && <PullRequestPanel />}
        {shown === 'files' && <FilesPanel />}
        {shown === 'builds' && <BuildsPanel appId={appId} threadId={threadId} />}
        {shown === 'preview' && <PreviewPanel appId={appId} threadId={threadId} />}
        {shown === 'terminal' && <TerminalPanel />}
        {shown === 'runs' && <RunsPanel />}
        {shown === 'events' && <EventsPanel />}
      </Suspense>
    </div>
  );
}
