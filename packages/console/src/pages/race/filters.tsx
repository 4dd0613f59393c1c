/** Which threads are shown, by title and by status, and how. All of it is in the address. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { Find } from '../../ui/find.tsx';
import { Status } from '../../ui/status.tsx';
import { count } from '../../ui/values.tsx';
import { lookOf } from './words.ts';

const route = getRouteApi('/signed-in/apps/$appId/');
/** What asks for somebody comes first. */
const ORDER = 'waiting conflicted failed joining running queued blocked ready applied archived'.split(' ');

/** By title, and as what. */
export function ViewTools() {
  const { query = '' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="flex min-w-0 grow items-center gap-2 sm:ml-auto sm:grow-0">
      <Find
        label="Find threads by title"
        placeholder="Find by title"
        value={query}
        onChange={(next) =>
          void navigate({
            search: (old) => ({ ...old, query: next || undefined }),
            replace: true,
            resetScroll: false,
          })
        }
      />
      <How />
    </div>
  );
}

export function StatusFilter({ counts, hasMore }: { counts: Map<string, number>; hasMore: boolean }) {
  const { status } = route.useSearch();
  const present = [...new Set([...counts.keys(), ...(status === undefined ? [] : [status])])].toSorted(
    (a, b) => place(a) - place(b),
  );
  return (
    <nav aria-label="Threads by status" className="flex flex-wrap items-center px-2 pb-2">
      {present.map((one) => (
        <Link
          key={one}
          to="."
          search={(old) => ({ ...old, status: one === status ? undefined : one })}
          replace
          resetScroll={false}
          aria-current={one === status ? 'true' : undefined}
          {...(one === status && { 'data-selected': true })}
          className="button px-2"
          data-kind="quiet"
        >
          <span aria-hidden className="flex">
            <Status status={lookOf(one).status} bare />
          </span>
          <span>{lookOf(one).word}</span>
          <span className="text-ink-3 tabular-nums">
            {count(counts.get(one) ?? 0)}
            {hasMore && '+'}
          </span>
        </Link>
      ))}
    </nav>
  );
}

const place = (status: string) => (ORDER.includes(status) ? ORDER.indexOf(status) : ORDER.length);

const HOW = { graph: 'Race', table: 'Table', forks: 'Forks' };

function How() {
  const { show = 'graph' } = route.useSearch();
  return (
    <nav aria-label="Shown as" className="flex gap-1">
      {(['graph', 'table', 'forks'] as const).map((one) => (
        <Link
          key={one}
          to="."
          search={(old) => ({ ...old, show: one === 'graph' ? undefined : one })}
          replace
          resetScroll={false}
          activeOptions={{ exact: true }}
          aria-current={one === show ? 'true' : undefined}
          {...(one === show && { 'data-selected': true })}
          className="button px-2"
        >
          {HOW[one]}
        </Link>
      ))}
    </nav>
  );
}
