/** The files of the thread's newest source. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plain } from '../../../code/plain.tsx';
import { filesQuery } from '../../../api/queries.ts';
import { ButtonLink } from '../../../ui/button.tsx';
import { ShowMore } from '../../../ui/show-more.tsx';
import { Empty, Shown } from '../../../ui/states.tsx';
import { bytes } from '../../../ui/values.tsx';
import { useThread } from '../context.ts';

export function FilesPanel() {
  const { thread } = useThread();
  const sourceId = thread.latestSourceId ?? thread.sourceId;
  if (sourceId === null)
    return (
      <Empty title="No files yet">
        <p>The thread has no source.</p>
      </Empty>
    );
  return <Files sourceId={sourceId} />;
}

function Files({ sourceId }: { sourceId: string }) {
  const { appId } = useThread();
  const query = useInfiniteQuery(filesQuery(appId, sourceId));
  return (
    <Shown query={query}>
      {({ pages }) => {
        const files = pages.flatMap(({ items }) => items);
        if (files.length === 0) return <Empty title="The source is empty" />;
        return (
          <>
            <div className="px-4 py-2">
              <ButtonLink to="/apps/$appId/sources/$sourceId" params={{ appId, sourceId }} search={{ q: '' }}>
                Search in the files
              </ButtonLink>
            </div>
            <ul className="border-t border-line">
              {files.map(({ path, byteSize }) => (
                <li key={path}>
                  <Link
                    to="/apps/$appId/sources/$sourceId"
                    params={{ appId, sourceId }}
                    search={{ file: path }}
                    data-row
                    className="row min-h-7 gap-2 py-1"
                  >
                    <span className="long font-mono text-mono">
                      <Plain text={path} />
                    </span>
                    <span className="ml-auto text-12 whitespace-nowrap text-ink-3">{bytes(byteSize)}</span>
                  </Link>
                </li>
              ))}
            </ul>
            <ShowMore list={query} />
          </>
        );
      }}
    </Shown>
  );
}
