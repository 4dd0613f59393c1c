/** What changed between two sources: by default, between a source and its parent. */
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { appQuery, diffQuery, sourceQuery } from '../../api/queries.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Shown, Skeleton } from '../../ui/states.tsx';
import { Changes } from './changes.tsx';
import { SourcePicker } from './source-picker.tsx';

const route = getRouteApi('/signed-in/apps/$appId/diff');

export function DiffPage() {
  const { appId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const app = useQuery(appQuery(appId));
  const toId = search.to ?? app.data?.headSourceId ?? null;
  const to = useQuery({ ...sourceQuery(appId, toId ?? ''), enabled: toId !== null });
  const fromId = search.from ?? to.data?.parentSourceIds[0] ?? null;
  const from = useQuery({ ...sourceQuery(appId, fromId ?? ''), enabled: fromId !== null });
  const diff = useQuery({
    ...diffQuery(appId, fromId ?? '', toId ?? ''),
    enabled: fromId !== null && toId !== null,
  });
  const pick = (which: 'from' | 'to') => (id: string) =>
    void navigate({
      search: (last) => ({
        ...last,
        from: fromId ?? undefined,
        [which]: id,
        file: undefined,
        L: undefined,
        side: undefined,
      }),
    });
  const failed = [to, from, diff].find((query) => query.error && !query.data);

  return (
    <Page
      title="Changes"
      actions={
        <>
          <SourcePicker label="From" appId={appId} source={from.data ?? null} onPick={pick('from')} />
          <span aria-hidden className="text-ink-3">
            →
          </span>
          <SourcePicker label="To" appId={appId} source={to.data ?? null} onPick={pick('to')} />
          {search.thread !== undefined && (
            <Link
              to="/apps/$appId/threads/$threadId"
              params={{ appId, threadId: search.thread }}
              className="link"
            >
              Its thread
            </Link>
          )}
        </>
      }
    >
      {failed ? (
        <Failure error={failed.error} retry={() => void failed.refetch()} />
      ) : app.data && toId === null ? (
        <Empty title="Nothing to compare yet">
          There is no source yet. Import a folder, or start a thread.
        </Empty>
      ) : to.data && fromId === null ? (
        <Empty title="This source has no parent">
          <p>Everything in it is new. Pick a source to compare it with, or look at its files.</p>
          <Link to="/apps/$appId/sources/$sourceId" params={{ appId, sourceId: to.data.id }} className="link">
            Its files
          </Link>
        </Empty>
      ) : (
        <Shown query={diff} skeleton={<Skeleton lines={8} />}>
          {({ files }) =>
            files.length === 0 ? (
              <Empty title="No difference">Both sources have the same files.</Empty>
            ) : from.data && to.data ? (
              <Changes key={`${fromId} ${toId}`} appId={appId} from={from.data} to={to.data} files={files} />
            ) : (
              <Skeleton lines={8} />
            )
          }
        </Shown>
      )}
    </Page>
  );
}
