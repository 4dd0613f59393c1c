/** The files that the thread has changed. */
import type { DiffFile } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Plain } from '../../../code/plain.tsx';
import { diffQuery } from '../../../api/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Empty, Shown } from '../../../ui/states.tsx';
import { count, plural } from '../../../ui/values.tsx';
import { useThread } from '../context.ts';

const SHOWN_FIRST = 200;

export function ChangesPanel() {
  const { thread } = useThread();
  const { sourceId, latestSourceId } = thread;
  if (sourceId === null || latestSourceId === null || sourceId === latestSourceId)
    return (
      <Empty title="No change yet">
        <p>When a run, an edit or a command has changed files, they are listed here.</p>
      </Empty>
    );
  return <Changes from={sourceId} to={latestSourceId} />;
}

function Changes({ from, to }: { from: string; to: string }) {
  const { appId, threadId } = useThread();
  const query = useQuery(diffQuery(appId, from, to));
  const [shown, setShown] = useState(SHOWN_FIRST);
  return (
    <Shown query={query}>
      {({ files }) => {
        if (files.length === 0)
          return (
            <Empty title="No change">
              <p>The newest source has the same files as the one that the thread started from.</p>
            </Empty>
          );
        const additions = files.reduce((sum, file) => sum + file.additions, 0);
        const deletions = files.reduce((sum, file) => sum + file.deletions, 0);
        return (
          <>
            <div className="flex items-center gap-3 border-b border-line px-4 py-2 text-12 text-ink-2">
              <span>{plural(files.length, 'file')}</span>
              <Counts additions={additions} deletions={deletions} />
              <Link
                to="/apps/$appId/diff"
                params={{ appId }}
                search={{ from, to, thread: threadId }}
                className="link ml-auto"
              >
                Open the difference
              </Link>
            </div>
            <ul>
              {files.slice(0, shown).map((file) => (
                <li key={file.path}>
                  <Changed file={file} from={from} to={to} />
                </li>
              ))}
            </ul>
            {files.length > shown && (
              <div className="px-4 py-3">
                <Button onPress={() => setShown(shown * 5)}>Show more of {count(files.length)}</Button>
              </div>
            )}
          </>
        );
      }}
    </Shown>
  );
}

const SIGNS: Record<string, string> = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R', mode: 'X' };

function Changed({ file, from, to }: { file: DiffFile; from: string; to: string }) {
  const { appId, threadId } = useThread();
  return (
    <Link
      to="/apps/$appId/diff"
      params={{ appId }}
      search={{ from, to, file: file.path, thread: threadId }}
      data-row
      className="row min-h-7 gap-2 py-1"
    >
      <span
        role="img"
        aria-label={file.status}
        title={file.status}
        className="w-3 font-mono text-mono text-ink-3"
      >
        {SIGNS[file.status] ?? '?'}
      </span>
      <span className="long font-mono text-mono">
        <Plain text={file.oldPath ? `${file.oldPath} → ${file.path}` : file.path} />
      </span>
      <span className="ml-auto">
        {file.binary ? (
          <span className="text-12 text-ink-3">binary</span>
        ) : (
          <Counts additions={file.additions} deletions={file.deletions} />
        )}
      </span>
    </Link>
  );
}

const Counts = ({ additions, deletions }: { additions: number; deletions: number }) => (
  <span className="flex gap-1 font-mono text-mono whitespace-nowrap">
    <span className="text-added-mark" title="lines added">
      +{count(additions)}
    </span>
    <span className="text-removed-mark" title="lines removed">
      −{count(deletions)}
    </span>
  </span>
);
