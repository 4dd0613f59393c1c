/** A search in all files of a source: the words, and the lines that were found, in place of the files. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { faultOf, fieldFault } from '../../api/faults.ts';
import { searchQuery } from '../../api/queries.ts';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Failure, Skeleton } from '../../ui/states.tsx';
import { count, plural } from '../../ui/values.tsx';
import { filesOf } from './matches.ts';
import { FoundFiles } from './found-files.tsx';
import { SearchBar } from './search-bar.tsx';
import type { SearchFaults, Wanted } from './search-bar.tsx';

const route = getRouteApi('/signed-in/apps/$appId/sources/$sourceId');
/** Pages without a match that are read by themselves: each took the service two seconds. */
const PATIENCE = 10;

export function SearchPane({ appId, sourceId }: { appId: string; sourceId: string }) {
  const { q = '', regex = false, ignoreCase = false, include = '', exclude = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const wanted: Wanted = { q, regex, ignoreCase, include, exclude };
  const query = useSearch(appId, sourceId, wanted);
  const fault = query.error ? faultOf(query.error) : null;
  const faults: SearchFaults = {};
  for (const name of ['q', 'include', 'exclude'] as const) {
    const said = fieldFault(fault, `/query/${name}`);
    if (said !== null) faults[name] = said;
  }
  const isRefused = Object.keys(faults).length > 0;
  return (
    <>
      <SearchBar
        wanted={wanted}
        faults={faults}
        onSearch={(next) =>
          void navigate({
            search: (last) => ({
              ...last,
              q: next.q,
              regex: next.regex || undefined,
              ignoreCase: next.ignoreCase || undefined,
              include: next.include || undefined,
              exclude: next.exclude || undefined,
            }),
            replace: q === '' || next.q === q,
            resetScroll: false,
          })
        }
      />
      {q === '' ? (
        <Empty title="Search in all files of this source">
          <p>
            Each line that contains the words is shown with the lines around it. “Only in” and “Not in” take
            paths such as <code>src/**</code>, or names such as <code>*.md</code>, with commas between.
          </p>
        </Empty>
      ) : isRefused && !query.data ? (
        <Empty title="Nothing was searched">The marked field says why.</Empty>
      ) : query.data ? (
        <Results query={query} wanted={wanted} appId={appId} sourceId={sourceId} />
      ) : query.error ? (
        <Failure error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Skeleton lines={10} height={20} />
      )}
    </>
  );
}

/** Goes on by itself until something is found. */
function useSearch(appId: string, sourceId: string, wanted: Wanted) {
  const query = useInfiniteQuery({
    ...searchQuery(appId, sourceId, wanted),
    enabled: wanted.q !== '',
  });
  const { data, hasNextPage, isFetching, error, fetchNextPage } = query;
  const pages = data?.pages ?? [];
  const isBare = pages.length < PATIENCE && pages.every(({ items }) => items.length === 0);
  useEffect(() => {
    if (isBare && hasNextPage && !isFetching && !error) void fetchNextPage();
  }, [isBare, hasNextPage, isFetching, error, fetchNextPage]);
  return query;
}

function Results({
  query,
  wanted,
  appId,
  sourceId,
}: {
  query: ReturnType<typeof useSearch>;
  wanted: Wanted;
  appId: string;
  sourceId: string;
}) {
  const { pages } = query.data!;
  const matches = useMemo(() => pages.flatMap(({ items }) => items), [pages]);
  const files = useMemo(() => filesOf(matches), [matches]);
  const skipped = skippedOf(pages.map((page) => page.skipped));
  const isReading = query.isFetchingNextPage;
  return (
    <>
      <p role="status" className="px-4 pb-2 text-ink-2">
        {matches.length === 0 && isReading
          ? 'Searching…'
          : `${plural(matches.length, 'line')} in ${plural(files.length, 'file')}${query.hasNextPage ? ' so far' : ''}`}
        {skipped && `. Not searched: ${skipped}`}
      </p>
      {matches.length === 0 && !query.hasNextPage && (
        <Empty title="No line is like that">
          <p className="long">
            Nothing {wanted.regex ? 'matches' : 'contains'} “<Plain text={wanted.q} />”
            {(wanted.include || wanted.exclude) && ' in the files that you chose'}.
            {!wanted.ignoreCase && ' Upper and lower case count.'}
          </p>
        </Empty>
      )}
      <FoundFiles key={JSON.stringify(wanted)} files={files} appId={appId} sourceId={sourceId} />
      {query.error && <Failure error={query.error} retry={() => void query.fetchNextPage()} />}
      {query.hasNextPage && !query.error && (
        <div className="p-3">
          <Button isPending={isReading} onPress={() => void query.fetchNextPage()}>
            Search on
          </Button>
        </div>
      )}
    </>
  );
}

/** `3 binary files, 1 file that is too large`. */
function skippedOf(all: { binary: number; tooLarge: number }[]): string {
  const sum = (name: 'binary' | 'tooLarge') => all.reduce((total, one) => total + one[name], 0);
  const [binary, tooLarge] = [sum('binary'), sum('tooLarge')];
  return [
    binary > 0 && plural(binary, 'binary file'),
    tooLarge > 0 &&
      `${count(tooLarge)} ${tooLarge === 1 ? 'file that is' : 'files that are'} too large, over 4 MiB or with a line too long`,
  ]
    .filter(Boolean)
    .join(', ');
}
