/** The thread's builds. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plain } from '../../../code/plain.tsx';
import { buildsQuery, itemsOf } from '../../../api/queries.ts';
import { Empty, Shown } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/values.tsx';

export function BuildsPanel({ appId, threadId }: { appId: string; threadId: string }) {
  const query = useInfiniteQuery(buildsQuery(appId, threadId));
  return (
    <Shown query={query}>
      {(data) => {
        const builds = itemsOf(data);
        if (builds.length === 0) return <Empty title="No build yet" />;
        return (
          <ul>
            {builds.map((build) => (
              <li key={build.id}>
                <Link
                  to="/apps/$appId/builds/$buildId"
                  params={{ appId, buildId: build.id }}
                  data-row
                  className="row"
                >
                  <Status status={build.status} />
                  <span className="long font-mono text-mono">
                    <Plain text={build.command} />
                  </span>
                  <span className="ml-auto text-12 text-ink-3">
                    <Time at={build.createdAt} />
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
