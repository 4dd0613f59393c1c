/** Every version of an app's files, newest first; any two can be compared. */
import type { Source } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { appQuery, sourcesQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { HeadMark } from '../../ui/status.tsx';
import { Id, Time, bytes, count, plural } from '../../ui/values.tsx';
import { ORIGINS, sourceName } from '../diff/source-picker.tsx';
import { CommitOf } from './commit.tsx';
import { ImportButton } from './import-button.tsx';

const route = getRouteApi('/signed-in/apps/$appId/sources');

export function SourcesPage() {
  const { appId } = route.useParams();
  const { compare } = route.useSearch();
  const navigate = route.useNavigate();
  const app = useQuery(appQuery(appId));
  const sources = useInfiniteQuery(sourcesQuery(appId));
  const pick = (id: string | undefined) =>
    void navigate({ search: { compare: id }, replace: true, resetScroll: false });
  return (
    <Page title="Sources" actions={app.data?.repositoryId === null && <ImportButton app={app.data} />}>
      {compare !== undefined && (
        <div
          role="status"
          className="flex flex-wrap items-center gap-3 border-y border-line bg-water-wash px-4 py-1"
        >
          <span>
            Pick the source to compare with <Id value={compare} copy={false} />
          </span>
          <Button kind="quiet" onPress={() => pick(undefined)}>
            Cancel
          </Button>
        </div>
      )}
      <Shown query={sources}>
        {(data) => {
          const items = itemsOf(data);
          if (items.length === 0)
            return (
              <Empty title="No source yet">
                {app.data?.repositoryId == null
                  ? 'A source is a version of all files. The first one comes with the import of a folder.'
                  : 'A source is a version of all files. The first one comes with the first thread, which fetches a commit of its branch.'}
              </Empty>
            );
          return (
            <>
              <table className="table">
                <thead>
                  <tr>
                    <th scope="col">Source</th>
                    <th scope="col" className="max-sm:hidden">
                      Origin
                    </th>
                    <th scope="col" className="max-md:hidden">
                      Parents
                    </th>
                    <th scope="col" className="text-right max-sm:hidden">
                      Files
                    </th>
                    <th scope="col" className="text-right max-md:hidden">
                      Size
                    </th>
                    <th scope="col">Made</th>
                    <th scope="col">
                      <span className="sr-only">Compare</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((source) => (
                    <Row
                      key={source.id}
                      appId={appId}
                      source={source}
                      isHead={source.id === app.data?.headSourceId}
                      other={items.find(({ id }) => id === compare) ?? compare}
                      onPick={pick}
                    />
                  ))}
                </tbody>
              </table>
              {sources.hasNextPage && (
                <div className="p-3">
                  <Button isPending={sources.isFetchingNextPage} onPress={() => void sources.fetchNextPage()}>
                    Show older ones
                  </Button>
                </div>
              )}
            </>
          );
        }}
      </Shown>
    </Page>
  );
}

interface RowProps {
  appId: string;
  source: Source;
  isHead: boolean;
  /** What is compared with; its id where it is not in the list. */
  other: Source | string | undefined;
  onPick: (id: string) => void;
}

function Row({ appId, source, isHead, other, onPick }: RowProps) {
  const name = sourceName(source);
  const origin = ORIGINS[source.origin] ?? source.origin;
  return (
    <tr>
      <td>
        <span className="flex flex-wrap items-center gap-x-2">
          <Link
            to="/apps/$appId/sources/$sourceId"
            params={{ appId, sourceId: source.id }}
            className="long hover:underline"
            data-row
          >
            <Plain text={name} />
          </Link>
          {isHead && <HeadMark />}
          {source.commit && (
            <span className="max-sm:hidden">
              <CommitOf commit={source.commit} />
            </span>
          )}
          <span className="max-sm:hidden">
            <Id value={source.id} />
          </span>
        </span>
        <span className="text-12 text-ink-3 sm:hidden">
          {source.commit ? `${source.commit.sha.slice(0, 7)}, ` : name !== origin && `${origin}, `}
          {plural(source.fileCount, 'file')}
        </span>
      </td>
      <td className="max-sm:hidden">{origin}</td>
      <td className="max-md:hidden">
        <Parents appId={appId} source={source} />
      </td>
      <td className="text-right tabular-nums max-sm:hidden">{count(source.fileCount)}</td>
      <td className="text-right whitespace-nowrap tabular-nums max-md:hidden">{bytes(source.byteSize)}</td>
      <td>
        <Time at={source.createdAt} />
      </td>
      <td className="text-right">
        <Compare appId={appId} source={source} other={other} onPick={onPick} />
      </td>
    </tr>
  );
}

function Compare({ appId, source, other, onPick }: Omit<RowProps, 'isHead'>) {
  const otherId = typeof other === 'string' ? other : other?.id;
  if (otherId === source.id) return <span className="text-ink-3">picked</span>;
  if (other === undefined || otherId === undefined)
    return (
      <span className="-mr-2.5 inline-flex">
        <Button kind="quiet" aria-label={`Compare ${sourceName(source)}`} onPress={() => onPick(source.id)}>
          Compare
        </Button>
      </span>
    );
  // The older one is the base.
  const isOlder = typeof other !== 'string' && other.createdAt > source.createdAt;
  const [from, to] = isOlder ? [source.id, otherId] : [otherId, source.id];
  return (
    <Link
      to="/apps/$appId/diff"
      params={{ appId }}
      search={{ from, to }}
      className="button"
      aria-label={`Compare with ${sourceName(source)}`}
    >
      With this
    </Link>
  );
}

/** Each parent, as the change since it. */
export function Parents({ appId, source }: { appId: string; source: Source }) {
  if (source.parentSourceIds.length === 0) return <span className="text-ink-3">–</span>;
  return (
    <span className="flex flex-wrap gap-x-2">
      {source.parentSourceIds.map((parent) => (
        <Link
          key={parent}
          to="/apps/$appId/diff"
          params={{ appId }}
          search={{ from: parent, to: source.id }}
          className="link font-mono text-mono"
          title={`Changes since ${parent}`}
        >
          …{parent.slice(-6)}
        </Link>
      ))}
    </span>
  );
}
