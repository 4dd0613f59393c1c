/** Where to go: the inbox, the apps, the threads with the latest activity; and whose session this is. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import type { LinkProps } from '@tanstack/react-router';
import {
  Activity,
  Building2,
  FolderGit2,
  GitPullRequest,
  Inbox,
  Layers,
  ListTodo,
  ReceiptText,
  Server,
  Timer,
  X,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { lazy, useEffect, useRef } from 'react';
import type { ReactNode, RefObject } from 'react';
import { useAppWord } from '../api/app-word.ts';
import { client } from '../api/client.ts';
import { lineOf, writeFaultOf } from '../api/faults.ts';
import { allThreadsQuery } from '../api/queries.ts';
import { itemsOf } from '../api/query.ts';
import { useSession } from '../api/session.ts';
import { IconButton } from '../ui/button.tsx';
import { notify } from '../ui/notices.tsx';
import { ForkMark, Status } from '../ui/status.tsx';
import { leaveTo } from './leave.ts';
import { Part } from './part.tsx';
import { usePlaces } from './places.ts';
import { switchOrganization } from './switch-organization.ts';
import { setTheme, themeOf } from './theme.ts';

/** The menu brings the collections of its library with it, which the first page does not need. */
const Menu = lazy(async () => ({ default: (await import('../ui/menu.tsx')).Menu }));

const RECENT = 12;
/** From here on it stands beside the page, as `md:` says. */
const WIDE = '(min-width: 840px)';

export function Sidebar({
  isReady,
  isOpen,
  onClose,
}: {
  /** Lists may be read. */
  isReady: boolean;
  isOpen: boolean;
  onClose: () => void;
}) {
  const nav = useRef<HTMLElement>(null);
  useCover(nav, isOpen, onClose);
  return (
    <nav
      ref={nav}
      aria-label="Console"
      className={`${isOpen ? 'fixed inset-0 z-30 flex' : 'hidden'} w-full shrink-0 flex-col border-r border-line bg-paper md:sticky md:top-0 md:flex md:h-dvh md:w-55`}
    >
      <div className="flex h-11 shrink-0 items-center justify-between border-b border-line px-3">
        <Link to="/" className="flex items-center gap-2 text-15 font-bold">
          <Mark />
          Headrace
        </Link>
        <div className="md:hidden">
          <IconButton label="Close the navigation" onPress={onClose}>
            <X size={16} />
          </IconButton>
        </div>
      </div>
      <div className="py-2">
        <Entries />
      </div>
      {isReady ? <RecentThreads /> : <div className="flex-1 border-t border-line" />}
      <Owner />
    </nav>
  );
}

/** While it covers the page of a small screen: the focus comes, Escape or a link closes it, and the focus returns. */
function useCover(nav: RefObject<HTMLElement | null>, isOpen: boolean, onClose: () => void): void {
  useEffect(() => {
    if (!isOpen) return;
    const end = new AbortController();
    const { signal } = end;
    const onKey = ({ key, defaultPrevented }: KeyboardEvent) => {
      if (key === 'Escape' && !defaultPrevented) onClose();
    };
    const onClick = ({ target }: MouseEvent) => {
      if ((target as Element).closest('a')) onClose();
    };
    matchMedia(WIDE).addEventListener('change', onClose, { signal });
    document.addEventListener('keydown', onKey, { signal });
    nav.current?.addEventListener('click', onClick, { signal });
    nav.current?.querySelector('button')?.focus();
    return () => {
      end.abort();
      document.querySelector<HTMLElement>('[data-navigation] button')?.focus();
    };
  }, [nav, isOpen, onClose]);
}

/** Two channels that become one. */
export function Mark() {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      aria-hidden
      className="text-water"
    >
      <path d="M5 1v14M12 1c0 5-7 4-7 9" />
    </svg>
  );
}

const ICONS: Record<string, LucideIcon> = {
  '/': Inbox,
  '/apps': Layers,
  '/projects': FolderGit2,
  '/pull-requests': GitPullRequest,
  '/tasks': ListTodo,
  '/automations': Timer,
  '/events': Activity,
  '/operations': ReceiptText,
  '/organization/team': Building2,
  '/system': Server,
};

function Entries() {
  const { pathname } = useLocation();
  const isInOrganization = pathname.startsWith('/organization/');
  const isInProject = useAppWord() === 'project';
  return usePlaces().map(({ text, to }) => (
    <Entry
      key={text}
      to={to}
      icon={ICONS[to as string]!}
      // The pages of apps are those of projects, too.
      exact={to === '/' || (isInProject && to === '/apps')}
      isActive={(isInOrganization && to === '/organization/team') || (isInProject && to === '/projects')}
    >
      {text}
    </Entry>
  ));
}

const ENTRY = 'item border-l-2';

function Entry({
  icon: Icon,
  exact,
  isActive,
  children,
  to,
}: {
  icon: LucideIcon;
  exact: boolean;
  /** Also on pages whose addresses do not begin as this one's. */
  isActive: boolean;
  children: ReactNode;
  to: LinkProps['to'];
}) {
  const active = { className: `${ENTRY} border-water bg-sunk font-bold`, 'aria-current': 'page' as const };
  return (
    <Link
      to={to}
      activeOptions={{ exact }}
      className={`${ENTRY} border-transparent`}
      activeProps={active}
      {...(isActive && active)}
    >
      <Icon size={14} aria-hidden />
      {children}
    </Link>
  );
}

function RecentThreads() {
  const { data } = useInfiniteQuery(allThreadsQuery({ sort: 'activity' }));
  const threads = itemsOf(data)
    .filter(({ archivedAt }) => archivedAt === null)
    .slice(0, RECENT);
  return (
    <div className="min-h-0 flex-1 overflow-y-auto border-t border-line py-2">
      <h2 className="label px-3 py-1">Latest threads</h2>
      {threads.map(({ id, projectId, title, status, forkedFrom }) => (
        <Link
          key={id}
          to="/apps/$appId/threads/$threadId"
          params={{ appId: projectId, threadId: id }}
          className="item border-l-2 border-transparent"
          activeProps={{ className: 'item border-l-2 border-water bg-sunk', 'aria-current': 'page' }}
        >
          <Status status={status} bare />
          <span className="truncate" title={title ?? undefined}>
            {title ?? 'Untitled thread'}
          </span>
          {forkedFrom && <ForkMark />}
        </Link>
      ))}
      {data && threads.length === 0 && <p className="px-3 text-12 text-ink-3">None yet.</p>}
    </div>
  );
}

function Owner() {
  const { user, organizations, activeOrganizationId } = useSession();
  const navigate = useNavigate();
  const active = organizations.find(({ id }) => id === activeOrganizationId);
  const signOut = async () => {
    await client.session.signOut();
    // A new page: this one cannot be shown to nobody.
    leaveTo('/console/sign-in');
  };
  const sayFault = (error: unknown) => notify(lineOf(writeFaultOf(error)), 'fail');
  return (
    <div className="flex items-center gap-2 border-t border-line p-2">
      <div className="min-w-0 flex-1 pl-1">
        <p className="truncate">{active?.name ?? 'No organization'}</p>
        <p className="truncate text-12 text-ink-3" title={user.email}>
          {user.email}
        </p>
      </div>
      <Part fallback={<span className="size-7" data-loading />}>
        <Menu
          label="You and the organization"
          icon="⋯"
          kind="quiet"
          items={[
            ...organizations
              .filter(({ id }) => id !== activeOrganizationId)
              .map(({ id, name }) => ({
                id,
                text: `Switch to ${name}`,
                onAction: () => void switchOrganization(id).catch(sayFault),
              })),
            { id: 'account', text: 'Your account', onAction: () => void navigate({ to: '/account' }) },
            {
              id: 'docs',
              text: 'API reference',
              onAction: () => void window.open('/docs', '_blank', 'noopener'),
            },
            ...(['system', 'light', 'dark'] as const)
              .filter((theme) => theme !== themeOf())
              .map((theme) => ({ id: theme, text: `Theme: ${theme}`, onAction: () => setTheme(theme) })),
            { id: 'out', text: 'Sign out', onAction: () => void signOut().catch(sayFault) },
          ]}
        />
      </Part>
    </div>
  );
}
