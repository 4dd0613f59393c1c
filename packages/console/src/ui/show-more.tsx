import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Button } from './button.tsx';

/** The button below a list for its next page, while there is one. */
export function ShowMore({
  list,
}: {
  list: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
}) {
  return (
    list.hasNextPage && (
      <div className="px-4 py-2">
        <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
          Show more
        </Button>
      </div>
    )
  );
}
