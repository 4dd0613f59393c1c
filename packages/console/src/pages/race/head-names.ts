/** What a revision of the head is called that no apply made. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { appQuery, sourcesQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { commitName } from '../diff/source-picker.tsx';
import type { HeadOf } from './strands.ts';

export type NameOfHead = (head: HeadOf) => string;

/** With a repository, its commit; else it is the first version. */
export function useHeadNames(appId: string): NameOfHead {
  const { data: app } = useQuery(appQuery(appId));
  const hasRepository = app?.repositoryId != null;
  const sources = useInfiniteQuery({ ...sourcesQuery(appId), enabled: hasRepository });
  const names = useMemo(
    () =>
      new Map(
        itemsOf(sources.data).flatMap((source) =>
          source.commit ? [[source.id, commitName({ ...source, commit: source.commit })]] : [],
        ),
      ),
    [sources.data],
  );
  const branch = app?.defaultBranch ?? 'the default branch';
  return useCallback(
    ({ sourceId }) =>
      hasRepository ? (names.get(sourceId) ?? `A commit of ${branch}`) : 'The first version',
    [hasRepository, names, branch],
  );
}
