/** What pages call the thing that they are about. */
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { appQuery } from './queries.ts';

export type AppWord = 'app' | 'project';

/** In pages of a project of the Direct API `project`, elsewhere `app`. Its layout reads which it is: the sidebar must not, before pages may read. */
export function useAppWord(): AppWord {
  const { appId } = useParams({ strict: false });
  const { data } = useQuery({ ...appQuery(appId ?? ''), enabled: false });
  return data?.kind === 'direct' ? 'project' : 'app';
}

/** At the beginning of a sentence. */
export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
