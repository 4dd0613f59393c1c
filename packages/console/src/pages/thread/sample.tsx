import { AsCode } from '../../ui/as-code.tsx';
import { callOf, pathOf, useThread } from './context.ts';

/** A change of the thread as code. */
export function Sample({ body, cli }: { body: unknown; cli: string }) {
  const place = useThread();
  return (
    <AsCode
      method="PATCH"
      path={pathOf(place)}
      body={body}
      ts={callOf('threads.update', place, body)}
      cli={cli}
    />
  );
}
