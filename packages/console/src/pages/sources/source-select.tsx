/** A choice of one of the newest sources. */
import type { Source } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { sourcesQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { relative, useNow } from '../../ui/values.tsx';
import { commitName } from '../diff/source-picker.tsx';

/** In place of a source's id. */
export const LATEST = 'latest';

/** The latest source of the thread or the app, or any of the app. */
export function SourceSelect(props: {
  appId: string;
  value: string;
  latest: string;
  /** Offered also where it is not among those that were read; `knownAs`: what is said of it. */
  known?: string | undefined;
  knownAs?: string;
  label?: string;
  /** Which of them can be chosen. */
  isOffered?: (source: Source) => boolean;
  onChange: (id: string) => void;
}) {
  const sources = useInfiniteQuery(sourcesQuery(props.appId));
  const listed = itemsOf(sources.data).filter(props.isOffered ?? (() => true));
  const now = useNow();
  const said = props.knownAs === undefined ? [] : [props.knownAs];
  const choices = [
    { id: LATEST, text: props.latest },
    ...(props.known && !listed.some(({ id }) => id === props.known)
      ? [{ id: props.known, text: [shortId(props.known), ...said].join(', ') }]
      : []),
    ...listed.map(({ id, message, commit, origin, createdAt }) => {
      const [of = relative(createdAt, now)] = id === props.known ? said : [];
      const text = commit
        ? `${of}: ${commitName({ commit, message })}`
        : `${shortId(id)}, ${of}: ${message ?? origin}`;
      return { id, text: text.slice(0, 60) };
    }),
  ];
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Select
        label={props.label ?? 'Source'}
        choices={choices}
        value={props.value}
        onChange={props.onChange}
      />
      {sources.hasNextPage && (
        <Button kind="quiet" onPress={() => void sources.fetchNextPage()}>
          Older sources
        </Button>
      )}
    </div>
  );
}

const shortId = (id: string): string => `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-6)}`;
