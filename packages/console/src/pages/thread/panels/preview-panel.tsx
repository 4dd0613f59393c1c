/** The thread's previews. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plain } from '../../../code/plain.tsx';
import { itemsOf, previewsQuery } from '../../../api/queries.ts';
import { Empty, Shown } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/values.tsx';

export function PreviewPanel({ appId, threadId }: { appId: string; threadId: string }) {
  const query = useInfiniteQuery(previewsQuery(appId, threadId));
  return (
    <Shown query={query}>
      {(data) => {
        const previews = itemsOf(data);
        if (previews.length === 0) return <Empty title="No preview yet" />;
        return (
          <ul>
            {previews.map((preview) => (
              <li key={preview.id}>
                <Link
                  to="/apps/$appId/previews/$previewId"
                  params={{ appId, previewId: preview.id }}
                  data-row
                  className="row"
                >
                  <Status status={preview.status} />
                  <span className="long font-mono text-mono">
                    <Plain text={preview.command} />
                  </span>
                  <span className="ml-auto text-12 text-ink-3">
                    <Time at={preview.createdAt} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        );
      }}
    </Shown>
  );
}
